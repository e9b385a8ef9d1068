/**
 * docs/design/reliability.md E4, E6 and E7 on the wire: bodies that are meant to cost much, packed bodies, and media
 * types.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, it } from "mocha";
import { forbiddenMark, rawRequest, refusedBody } from "./rig/raw-request.ts";
import { assertNoSecret, checkRefusal, figure, type Rig, useRig } from "./rig/rig.ts";

const start = `{"model":"open-a","messages":[{"role":"user","content":"${forbiddenMark}"}],"x":`;
const keys = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"k${index}":0`).join(",")}}`;
const nested = (depth: number, open: string, close: string): string => open.repeat(depth) + close.repeat(depth);

describe("costly bodies", function () {
  this.timeout(60_000);
  const rig = useRig();

  describe("E4: refused in little time, and nobody else waits", () => {
    for (const [name, body] of [
      ["depth 65 of arrays", `${start}${nested(64, "[", "]")}}`],
      ["depth 65 of objects", `${start}${nested(64, '{"a":', "}").replace('{"a":}', '{"a":0}')}}`],
      ["depth 1,000", `${start}${nested(1_000, "[", "]")}}`],
      ["depth 5,000", `${start}${nested(5_000, "[", "]")}}`],
      ["depth 1,000,000", `${start}${nested(1_000_000, "[", "]")}}`],
      ["depth 1,000,000 that never closes", `${start}${"[".repeat(1_000_000)}`],
      ["1,000,000 keys", `${start}${keys(1_000_000)}}`],
      ["50,001 keys", `${start}${keys(50_001)}}`],
      ["1,000,000 equal keys", `${start}{${'"k":0,'.repeat(1_000_000)}"k":0}}`],
      ["1,000,000 items", `${start}[${"0,".repeat(1_000_000)}0]}`],
      ["1,000,000 empty objects", `${start}[${"{},".repeat(1_000_000)}{}]}`],
      ["1,000,000 empty strings", `${start}[${'"",'.repeat(1_000_000)}""]}`],
      ["10 MB in a string that never ends", `${start}"${"a".repeat(10_000_000)}`],
      ["10 MB of backslashes", `${start}"${"\\\\".repeat(5_000_000)}`],
      ["10 MB of escapes that never end", `${start}"${"\\u0041".repeat(1_600_000)}`],
      ["10 MB of spaces", `${" ".repeat(10_000_000)}x`],
      ["10 MB of digits", `${start}${"1".repeat(10_000_000)}`],
      ["10 MB of minus signs", `${start}${"-".repeat(10_000_000)}}`],
      ["an unpaired surrogate", `${start}"\\ud800"}`],
    ] as const) {
      it(name, async () => {
        const bytes = rawRequest({ body });
        for (let attempt = 1; attempt <= 3; attempt += 1) {
          const { status, cpuMs, waitMs } = await measure(rig(), bytes);
          if (name === "an unpaired surrogate") assert.ok([200, 400].includes(status));
          else assert.ok([400, 413].includes(status), `status ${status}`);
          figure(`E4 ${name}: CPU`, cpuMs, 20, "ms");
          figure(`E4 ${name}: event loop`, waitMs, 50, "ms");
          if (cpuMs <= 40 && waitMs <= 100) return;
          assert.ok(attempt < 3, `${cpuMs} ms CPU, ${waitMs} ms wait in the last try`);
        }
      });
    }
  });

  describe("E6: packed bodies", () => {
    const text = refusedBody.replace(forbiddenMark, "packed");
    const packed = (bytes: Buffer, encoding: string): Buffer =>
      rawRequest({ body: bytes, headers: [`Content-Encoding: ${encoding}`] });
    for (const [encoding, bytes] of [
      ["gzip", gzipSync(text)],
      ["x-gzip", gzipSync(text)],
      ["GZIP", gzipSync(text)],
      ["deflate", deflateSync(text)],
      ["br", brotliCompressSync(text)],
      ["zstd", zstdCompressSync(text)],
      ["identity", Buffer.from(text)],
    ] as const) {
      it(`${encoding} is served unpacked`, async () => {
        const response = await rig().exchange(packed(bytes, encoding));
        assert.equal(response.status, 200, response.body.toString());
        const received = rig().upstream.requests.at(-1);
        assert.equal(received?.headers["content-encoding"], undefined);
        assert.deepEqual(JSON.parse(String(received?.body)), JSON.parse(text));
      });
    }

    for (const [name, bytes, encoding, status] of [
      ["gzip twice", gzipSync(gzipSync(refusedBody)), "gzip, gzip", 415],
      ["two headers", gzipSync(refusedBody), "gzip\r\nContent-Encoding: gzip", 415],
      ["an unknown one", gzipSync(refusedBody), "compress", 415],
      ["an empty one", Buffer.from(refusedBody), "", 415],
      ["chunked", Buffer.from(refusedBody), "chunked", 415],
      ["a wrong label", gzipSync(refusedBody), "br", 400],
      ["no packing at all", Buffer.from(refusedBody), "gzip", 400],
      ["raw deflate that is cut", deflateRawSync(refusedBody).subarray(0, 20), "deflate", 400],
      ["a cut body", gzipSync(refusedBody).subarray(0, -9), "gzip", 400],
      ["garbage behind the end", Buffer.concat([gzipSync(refusedBody), Buffer.from("garbage")]), "gzip", 400],
      ["a second member behind the end", Buffer.concat([gzipSync(refusedBody), gzipSync("{}")]), "gzip", 400],
      ["a wrong checksum", corrupt(gzipSync(refusedBody)), "gzip", 400],
    ] as const) {
      it(`refuses ${name}`, () =>
        checkRefusal(rig(), { name, bytes: packed(bytes, encoding), status, connection: "open" }));
    }

    for (const [encoding, pack] of [
      ["gzip", gzipSync],
      ["deflate", deflateSync],
      ["br", brotliCompressSync],
      ["zstd", zstdCompressSync],
    ] as const) {
      it(`a ${encoding} bomb of 200 MB is 413 in little time`, async () => {
        const { status, waitMs } = await measure(rig(), packed(pack(Buffer.alloc(200_000_000, " ")), encoding));
        assert.equal(status, 413);
        figure(`E6 ${encoding} bomb: event loop`, waitMs, 50, "ms");
        assert.ok(waitMs <= 100);
      });
    }
  });

  describe("E7: media types", () => {
    for (const type of [
      null,
      "text/plain",
      "text/json",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/json;boundary=x",
      "application/json; charset=utf-16",
      "application/json; charset=latin1",
      "application/json, text/plain",
      "application/jsonp",
      "application/json x",
      "application/*",
      "*/*",
      "application/problem+json",
      "application/json;;",
      "json",
      " ",
      "application/json\r\nContent-Type: text/plain",
      "application/json\r\nContent-Type: application/json",
      "application /json",
    ]) {
      it(`${JSON.stringify(type)} is 415`, () =>
        checkRefusal(rig(), {
          name: "type",
          bytes: rawRequest({ type }),
          status: 415,
          code: "unsupported_media_type",
          connection: "open",
        }));
    }
    for (const type of [
      "application/json",
      "application/json; charset=utf-8",
      "APPLICATION/JSON;charset=UTF-8",
      'application/json;charset="utf-8"',
      "application/json ",
    ]) {
      it(`${JSON.stringify(type)} is served`, async () => {
        const body = refusedBody.replace(forbiddenMark, "typed");
        assert.equal((await rig().exchange(rawRequest({ type, body }))).status, 200);
      });
    }
  });
});

function corrupt(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[copy.length - 6] = (copy[copy.length - 6] ?? 0) ^ 0xff;
  return copy;
}

interface Cost {
  readonly status: number;
  /** Of the proxy's main thread, when it has nothing else to do. */
  readonly cpuMs: number;
  /** The longest that another client waited for a small thing, less what both processes waited for a processor. */
  readonly waitMs: number;
}

async function measure(rig: Rig, bytes: Buffer): Promise<Cost> {
  const { cpuMs } = await send(rig, bytes);
  const other = await rig.connect();
  const probe = rawRequest({ method: "GET", target: "/nowhere", key: null });
  const state = { isDone: false, waitMs: 0 };
  const probing = (async () => {
    while (!state.isDone) {
      const startedMs = performance.now();
      other.write(probe);
      await other.readResponse();
      state.waitMs = Math.max(state.waitMs, performance.now() - startedMs);
    }
  })();
  const processes = [proxyProcess(rig), process.pid];
  const before = processes.map((pid) => timesOf(pid).queuedMs);
  const { status } = await send(rig, bytes);
  state.isDone = true;
  await probing;
  other.close();
  const queuedMs = processes.reduce((sum, pid, index) => sum + timesOf(pid).queuedMs - (before[index] ?? 0), 0);
  return { status, cpuMs, waitMs: Math.max(0, state.waitMs - queuedMs) };
}

async function send(rig: Rig, bytes: Buffer): Promise<{ status: number; cpuMs: number }> {
  const client = await rig.connect();
  const pid = proxyProcess(rig);
  // All but the last byte first: what is measured is the judging, and the reading of a large body is not.
  await new Promise((resolve) => client.socket.write(bytes.subarray(0, -1), resolve));
  for (let turn = 0; turn < 3; turn += 1) await rig.exchange(rawRequest({ method: "GET", target: "/nowhere" }));
  const before = timesOf(pid).cpuMs;
  client.write(bytes.subarray(-1));
  const response = await client.readResponse(20_000);
  const cpuMs = timesOf(pid).cpuMs - before;
  client.close();
  assertNoSecret(response);
  return { status: response.status, cpuMs };
}

function proxyProcess(rig: Rig): number {
  const ids = [...rig.gateway.logs.matchAll(/"process":([0-9]+)/g)].map(([, id]) => Number(id));
  return ids.at(-1) ?? assert.fail("the proxy's process is not in the log");
}

/** What the process's main thread has run, and waited for a processor while it could have run (Linux). */
function timesOf(pid: number): { cpuMs: number; queuedMs: number } {
  const [ran = 0, queued = 0] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ").map(Number);
  return { cpuMs: ran / 1e6, queuedMs: queued / 1e6 };
}
