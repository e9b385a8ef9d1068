/**
 * Refuses every request with 401 by `node:http` and nothing else: what a refusal takes on this machine at this moment, shown
 * beside our own figure for whoever reads it. Prints `listening PORT`.
 */
import { createServer } from "node:http";

const body = JSON.stringify({ error: { message: "Unknown key." } });
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(401, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
});
server.listen(0, "127.0.0.1", () => console.log(`listening ${server.address().port}`));
