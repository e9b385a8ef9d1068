/**
 * The benchmark's figures of uploads: the memory and the CPU that forms with large files take, beside a bare proxy that
 * pipes them on. Usage: `node test/bench/uploads.ts`; prints a line for each figure. Linux only, and quiet.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { proxyNodeFlags } from "#cli/proxy-node-flags";
import type { RelayUsage } from "#test/support/upload-relay";
import { atMost, type Figure } from "./figure.ts";

const MiB = 1024 * 1024;
const relay = fileURLToPath(new URL("../support/upload-relay.ts", import.meta.url));
const piece = Buffer.alloc(64 * 1024, "x");

class Relay {
  readonly port: number;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, port: number) {
    this.#process = process;
    this.port = port;
  }

  static async start(kind: "forms" | "bare", upstreamPort: number, folder: string): Promise<Relay> {
    const process = fork(relay, [kind, String(upstreamPort), folder], { execArgv: [...proxyNodeFlags] });
    const [{ port }] = await once(process, "message");
    return new Relay(process, port);
  }

  /** @param ask `watch`: also looks at its memory from now on, which costs CPU */
  async usage(ask: "usage" | "watch" = "usage"): Promise<RelayUsage> {
    const message = once(this.#process, "message");
    this.#process.send(ask);
    const [usage] = await message;
    return usage;
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.disconnect();
    await ended;
  }
}

/** Uploads a form with one file of this size and reads the response. */
async function upload(port: number, fileBytes: number): Promise<void> {
  const head = Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n');
  const tail = Buffer.from('\r\n--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n--b--\r\n');
  const length = head.length + fileBytes + tail.length;
  const socket = connect({ port, host: "127.0.0.1" });
  await once(socket, "connect");
  const heading = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${length}\r\n\r\n`;
  socket.write(heading);
  socket.write(head);
  for (let left = fileBytes; left > 0; left -= piece.length) {
    if (!socket.write(left < piece.length ? piece.subarray(0, left) : piece)) await once(socket, "drain");
  }
  socket.write(tail);
  const [response] = await once(socket, "data");
  if (!String(response).startsWith("HTTP/1.1 200")) throw new Error(`the upload failed: ${response}`);
  socket.destroy();
}

async function measureMemory(upstreamPort: number, folder: string): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { name, count, bytes, limit } of [
    { name: "one upload of 100 MiB: more resident memory", count: 1, bytes: 100 * MiB, limit: 2 },
    { name: "20 uploads of 50 MiB at once: more resident memory", count: 20, bytes: 50 * MiB, limit: 64 },
  ]) {
    const forms = await Relay.start("forms", upstreamPort, folder);
    // What the code and the first buffers take is there before.
    for (let round = 0; round < 3; round += 1) await upload(forms.port, 100 * MiB);
    const before = await forms.usage("watch");
    await Promise.all(Array.from({ length: count }, () => upload(forms.port, bytes)));
    const after = await forms.usage();
    figures.push(atMost(name, (after.peakBytes - before.residentBytes) / MiB, limit, "MiB"));
    await forms.stop();
  }
  return figures;
}

/** CPU of one upload of 10 MiB, milliseconds. */
async function cpuOf(relay: Relay): Promise<number> {
  const uploads = 20;
  const before = await relay.usage();
  for (let round = 0; round < uploads; round += 1) await upload(relay.port, 10 * MiB);
  const after = await relay.usage();
  return (after.cpuMs - before.cpuMs) / uploads;
}

/** The two take turns, so that what else the machine does meets both. */
async function measureCpu(upstreamPort: number, folder: string): Promise<Figure> {
  const forms = await Relay.start("forms", upstreamPort, folder);
  const bare = await Relay.start("bare", upstreamPort, folder);
  const pairs: { readonly forms: number; readonly bare: number }[] = [];
  for (let round = 0; round < 8; round += 1) pairs.push({ forms: await cpuOf(forms), bare: await cpuOf(bare) });
  await forms.stop();
  await bare.stop();
  // The first pair pays for compiling.
  const [middle = { forms: 0, bare: 1 }] = pairs
    .slice(1)
    .sort((one, other) => one.forms / one.bare - other.forms / other.bare)
    .slice(3);
  const detail = `${middle.forms.toFixed(1)} ms over ${middle.bare.toFixed(1)} ms`;
  return atMost("upload of 10 MiB: CPU over a bare proxy's", middle.forms / middle.bare, 1.3, "x", detail);
}

function startSink(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => response.end("fine"));
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

const sink = await startSink();
const address = sink.address();
const port = typeof address === "object" && address !== null ? address.port : 0;
const folder = mkdtempSync(join(tmpdir(), "tollgate-uploads-"));
try {
  for (const { name, value, limit, unit, detail } of [
    ...(await measureMemory(port, folder)),
    await measureCpu(port, folder),
  ]) {
    console.log(`${name}: ${value.toFixed(2)} ${unit} (at most ${limit}) ${detail}`);
  }
} finally {
  sink.close();
  rmSync(folder, { recursive: true, force: true });
}
