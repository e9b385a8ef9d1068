/**
 * The bare proxy that every figure is a ratio of: `node:http` in front, undici's `dispatch` behind, and nothing else.
 *
 * No keys, no checks, no metering: whatever a gateway on Node can do, it cannot do less. Pinned: a change of this file
 * changes what every figure means. Usage: `node test/bench/bare.mjs UPSTREAM_ORIGIN`; prints `listening PORT` and, on
 * SIGUSR2, its CPU time so far in microseconds.
 */
import { createServer } from "node:http";
import { Pool } from "undici";

const origin = process.argv[2];
const pool = new Pool(origin, { pipelining: 1, headersTimeout: 0, bodyTimeout: 0, allowH2: false });

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    pool.dispatch(
      { origin, path: request.url, method: request.method, headers: ["content-type", "application/json"], body },
      {
        onRequestStart(controller) {
          response.on("close", () => {
            if (!response.writableFinished) controller.abort(new Error("client left"));
          });
        },
        onResponseStart(_controller, status, headers) {
          response.writeHead(status, { "content-type": headers["content-type"] ?? "application/octet-stream" });
        },
        onResponseData(controller, chunk) {
          if (!response.write(chunk)) {
            controller.pause();
            response.once("drain", () => controller.resume());
          }
        },
        onResponseEnd() {
          response.end();
        },
        onResponseError() {
          if (response.headersSent) response.destroy();
          else response.writeHead(502).end();
        },
      },
    );
  });
});
server.keepAliveTimeout = 75_000;
server.listen(0, "127.0.0.1", () => console.log(`listening ${server.address().port}`));
process.on("SIGUSR2", () => {
  const { user, system } = process.cpuUsage();
  console.log(`cpu ${user + system}`);
});
process.on("SIGTERM", () => process.exit(0));
