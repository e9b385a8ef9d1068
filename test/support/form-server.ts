/** A server of our own that reads forms, with a spool and counts that a test can look at, and the bytes of forms. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "mocha";
import { GatewayError } from "#proxy/errors";
import { type FormLimits, readForm } from "#proxy/http/form/read-form";
import { Spool, type SpoolFile } from "#proxy/http/form/spool";
import { InFlightBytes } from "#proxy/http/in-flight-bytes";
import { ClientGoneError } from "#proxy/http/read-body";
import type { ClientRequest } from "#proxy/http1/server/client-request";
import { defaultLimits } from "#proxy/limits";
import type { Form } from "#proxy/multipart/form";
import { Http1Server } from "./http1-server.ts";
import { within } from "./wait-for.ts";

/** The bytes of a part; a head is a list of lines. */
export function part(head: readonly string[], content: string | Buffer = ""): Buffer {
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), Buffer.from(content)]);
}

export function field(name: string, value: string | Buffer): Buffer {
  return part([`Content-Disposition: form-data; name="${name}"`], value);
}

export function file(name: string, content: string | Buffer, filename = "a.png", type = "image/png"): Buffer {
  const disposition = `Content-Disposition: form-data; name="${name}"; filename="${filename}"`;
  return part([disposition, `Content-Type: ${type}`], content);
}

/** The bytes of a form with these parts. */
export function formOf(parts: readonly Buffer[], boundary = "b"): Buffer {
  const opened = parts.flatMap((each) => [Buffer.from(`--${boundary}\r\n`), each, Buffer.from("\r\n")]);
  return Buffer.concat([...opened, Buffer.from(`--${boundary}--\r\n`)]);
}

/** What was read, in a form that can be compared: files as their text. */
export async function describeForm({ parts }: Form): Promise<readonly unknown[]> {
  return Promise.all(
    parts.map(async (each) => {
      if (each.kind === "field") return [each.name, each.value];
      const content = await contentOf(each.content);
      return [each.name, content.toString("latin1"), each.filename, each.contentType];
    }),
  );
}

/** All bytes of a body; its pieces are copied, since their memory is used again. */
export async function contentOf(body: { chunks(): AsyncIterable<Buffer> }): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body.chunks()) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

export interface FormServerOptions {
  readonly limits?: Partial<FormLimits>;
  /** Names of which a form may have several parts. */
  readonly repeated?: readonly string[];
  readonly spoolBytesMax?: number;
  readonly inFlightBytesMax?: number;
  /** In place of the real one. */
  readonly openFile?: (open: () => Promise<SpoolFile>) => Promise<SpoolFile>;
}

/** A request whose body is being read. */
export interface SentForm {
  readonly socket: Socket;
  readonly request: ClientRequest;
  readonly form: Promise<Form>;
}

/** Starts servers for one suite; each is closed behind its test, when nothing is held any more. */
export function formServers(): (options?: FormServerOptions) => Promise<FormServer> {
  const servers: FormServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      assert.deepEqual([server.inFlight.bytes, server.spool.bytes], [0, 0]);
      await server.close();
    }
  });
  return async (options) => {
    const server = await FormServer.start(options);
    servers.push(server);
    return server;
  };
}

export class FormServer {
  readonly inFlight: InFlightBytes;
  readonly spool: Spool;
  readonly folder: string;
  readonly #server: Http1Server;
  readonly #options: FormServerOptions;
  readonly #requests: ((request: ClientRequest) => void)[];
  readonly #sockets = new Set<Socket>();

  private constructor(server: Http1Server, options: FormServerOptions, requests: ((request: ClientRequest) => void)[]) {
    this.#server = server;
    this.#options = options;
    this.#requests = requests;
    this.folder = mkdtempSync(join(tmpdir(), "tollgate-spool-"));
    this.spool = new Spool(this.folder, options.spoolBytesMax ?? 1_000_000_000);
    this.inFlight = new InFlightBytes(options.inFlightBytesMax ?? 1_000_000_000);
  }

  static async start(options: FormServerOptions = {}): Promise<FormServer> {
    const requests: ((request: ClientRequest) => void)[] = [];
    const server = await Http1Server.start({ handle: ({ request }) => requests.shift()?.(request) });
    return new FormServer(server, options, requests);
  }

  /** Sends a head, then these pieces, each when the one before has gone out; the socket stays open for more. */
  async send(pieces: readonly (string | Buffer)[], headers: readonly string[]): Promise<SentForm> {
    const arrived = new Promise<ClientRequest>((resolve) => this.#requests.push(resolve));
    const socket = connect({ port: this.#server.port, host: "127.0.0.1", noDelay: true });
    this.#sockets.add(socket);
    socket.on("error", () => {}).on("close", () => this.#sockets.delete(socket));
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${headers.join("\r\n")}\r\n\r\n`);
    this.#write(socket, pieces).catch(() => {});
    const request = await within(5_000, "the request", arrived);
    const key = { namespace: "default", name: "key" };
    const room = this.spool.ofCall(key);
    const { limits, repeated, openFile = (open) => open() } = this.#options;
    const form = readForm(request, {
      limits: { ...defaultLimits, ...limits },
      repeated: new Set(repeated),
      spool: {
        acquire: (bytes) => room.acquire(bytes),
        release: (bytes) => room.release(bytes),
        openFile: () => openFile(() => room.openFile()),
      },
      inFlight: this.inFlight.ofCall(key),
    });
    form.catch(() => {});
    return { socket, request, form };
  }

  async #write(socket: Socket, pieces: readonly (string | Buffer)[]): Promise<void> {
    for (const piece of pieces) {
      await new Promise((resolve) => socket.write(piece, resolve));
      if (pieces.length > 1) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** The form of these bytes, or the code it was refused with; nothing stays held. */
  async outcome(body: Buffer, options: { type?: string; pieces?: readonly Buffer[] } = {}): Promise<unknown> {
    const type = `Content-Type: ${options.type ?? "multipart/form-data; boundary=b"}`;
    const sent = await this.send(options.pieces ?? [body], [type, `Content-Length: ${body.length}`]);
    return this.outcomeOf(sent);
  }

  async outcomeOf({ socket, form }: SentForm): Promise<unknown> {
    try {
      const whole = await within(20_000, "the form", form);
      const described = await describeForm(whole);
      whole.release();
      return described;
    } catch (error) {
      if (error instanceof GatewayError || error instanceof ClientGoneError) return error.code;
      throw error;
    } finally {
      socket.destroy();
    }
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await this.#server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
