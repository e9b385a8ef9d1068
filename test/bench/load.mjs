/**
 * The load generator of the benchmark: a fixed number of connections, each with one request after the other.
 *
 * Usage: `node test/bench/load.mjs URL KEY BODY_FILE CONNECTIONS DURATION_MS`; prints one JSON line with the requests
 * that succeeded, those that failed, and the chunks received. Every key of a comma-separated list is used in turn.
 */
import { readFileSync } from "node:fs";
import { Pool } from "undici";

const [url, keyList, bodyFile, connections, durationMs] = process.argv.slice(2);
const { origin, pathname } = new URL(url);
const body = readFileSync(bodyFile);
// A form names its boundary in its first line.
const boundary = body.subarray(0, 2).toString() === "--" ? body.subarray(2, body.indexOf("\r")).toString() : undefined;
const contentType = boundary === undefined ? "application/json" : `multipart/form-data; boundary=${boundary}`;
const keys = keyList.split(",");
const pool = new Pool(origin, { connections: Number(connections), pipelining: 1 });
const endMs = performance.now() + Number(durationMs);
const counts = { succeeded: 0, failed: 0, chunks: 0, firstFailure: undefined };

function once(index) {
  return new Promise((resolve) => {
    let status = 0;
    let text = "";
    const headers = ["content-type", contentType, "authorization", `Bearer ${keys[index % keys.length]}`];
    pool.dispatch(
      { path: pathname, method: "POST", headers, body },
      {
        onRequestStart() {},
        onResponseStart(_controller, code) {
          status = code;
        },
        onResponseData(_controller, chunk) {
          counts.chunks += 1;
          if (status !== 200) text += chunk;
        },
        onResponseEnd() {
          if (status === 200) counts.succeeded += 1;
          else {
            counts.failed += 1;
            counts.firstFailure ??= `${status} ${text.slice(0, 300)}`;
          }
          resolve();
        },
        onResponseError(_controller, error) {
          counts.failed += 1;
          counts.firstFailure ??= error.message;
          resolve();
        },
      },
    );
  });
}

let next = 0;
await Promise.all(
  Array.from({ length: Number(connections) }, async () => {
    while (performance.now() < endMs) await once(next++);
  }),
);
console.log(JSON.stringify(counts));
process.exit(0);
