/**
 * A process that passes uploads on, for tests and measurements of what that takes: a form is read into the spool, written
 * anew and sent to an upstream, with nothing else of the gateway around it. `bare` pipes the body on as it comes, with
 * `node:http` on both sides: no proxy on Node can do less. Arguments: `forms` or `bare`, port of the upstream, spool folder.
 *
 * It sends its port over Node's channel, and for each message that it gets, what it has used until then; from the message
 * `watch` on it looks at its memory every few milliseconds.
 */
import { randomBytes } from "node:crypto";
import { createServer, request as openRequest } from "node:http";
import { readForm } from "#proxy/http/form/read-form";
import { Spool } from "#proxy/http/form/spool";
import { InFlightBytes } from "#proxy/http/in-flight-bytes";
import { ConnectionPool } from "#proxy/http1/client/connection-pool";
import type { Exchange } from "#proxy/http1/server/exchange";
import { defaultLimits } from "#proxy/limits";
import { boundaryOf, writeForm } from "#proxy/multipart/write-form";
import { armDeadline } from "#proxy/runtime/deadlines";
import { EgressPolicy } from "#proxy/snapshot/egress-policy";
import { guardedLookup } from "#proxy/upstream/pools/guarded-connector";
import { Http1Server } from "./http1-server.ts";

export interface RelayUsage {
  /** User and system time so far. */
  readonly cpuMs: number;
  /** The most memory that was resident since the last message, where it is watched. */
  readonly peakBytes: number;
  /** What is resident now. */
  readonly residentBytes: number;
  /** On disk now. */
  readonly spooledBytes: number;
}

const [kind = "", port = "", folder = ""] = process.argv.slice(2);
const key = { namespace: "default", name: "key" };
const limits = { ...defaultLimits, formBytesMax: 2 ** 30, formFileBytesMax: 2 ** 30 };
const inFlight = new InFlightBytes(limits.inFlightBytesMax);
const spool = new Spool(folder, 2 ** 32);
const sampleMs = 5;

function openPool(): ConnectionPool {
  return new ConnectionPool({
    origin: new URL(`http://127.0.0.1:${port}`),
    headBytesMax: 16_384,
    lookup: guardedLookup(new EgressPolicy(["127.0.0.0/8"])),
    armDeadline,
    checkHost: () => {},
    tls: {},
  });
}

async function relayForm({ request, response }: Exchange, pool: ConnectionPool): Promise<void> {
  const repeated = new Set<string>();
  const form = await readForm(request, { limits, repeated, spool: spool.ofCall(key), inFlight: inFlight.ofCall(key) });
  try {
    const { contentType, body } = writeForm(form.parts, boundaryOf(randomBytes(16)));
    await new Promise<void>((resolve, reject) => {
      pool.send(
        { path: "/", headers: ["content-type", contentType], body, connectTimeoutMs: 5_000 },
        { onStart: () => {}, onHead: () => {}, onData: () => {}, onEnd: resolve, onError: reject },
      );
    });
    response.writeHead(200, [], 4);
    response.end(Buffer.from("fine"));
  } finally {
    form.release();
  }
}

async function startForms(): Promise<number> {
  const pool = openPool();
  const server = await Http1Server.start({
    handle: (exchange) => relayForm(exchange, pool).catch(() => exchange.response.destroy()),
    limits,
  });
  return server.port;
}

async function startBare(): Promise<number> {
  const server = createServer((request, response) => {
    const { host: _host, ...headers } = request.headers;
    const sent = openRequest({ host: "127.0.0.1", port, method: "POST", path: "/", headers }, (reply) => {
      reply.resume();
      reply.on("end", () => response.end("fine"));
    });
    request.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

let peakBytes = 0;

function watchMemory(): void {
  setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
  }, sampleMs);
}

process.on("message", (message) => {
  if (message === "watch") watchMemory();
  const { user, system } = process.cpuUsage();
  const residentBytes = process.memoryUsage.rss();
  const usage: RelayUsage = {
    cpuMs: (user + system) / 1_000,
    peakBytes: Math.max(peakBytes, residentBytes),
    residentBytes,
    spooledBytes: spool.bytes,
  };
  peakBytes = 0;
  process.send?.(usage);
});
process.on("disconnect", () => process.exit(0));
process.send?.({ port: kind === "forms" ? await startForms() : await startBare() });
