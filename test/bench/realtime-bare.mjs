/** A bare relay of WebSockets: `http-proxy` as it comes, which looks into nothing. Its argument is the upstream's port. */
import { createServer } from "node:http";
import httpProxy from "http-proxy";

const proxy = httpProxy.createProxyServer({ target: `http://127.0.0.1:${process.argv[2]}`, ws: true });
proxy.on("error", () => {});
const server = createServer((_request, response) => response.writeHead(404).end());
server.on("upgrade", (request, socket, head) => {
  socket.on("error", () => {});
  proxy.ws(request, socket, head);
});
server.listen(0, "127.0.0.1", () => console.log(`listening ${server.address().port}`));
