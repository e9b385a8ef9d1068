/** A client of the realtime protocol that remembers all it was told. */
import { WebSocket } from "ws";
import { rawKey } from "#test/support/resilience/manifests";
import { waitFor } from "#test/support/wait-for";
import type { RealtimeEvent } from "./fake-realtime.ts";

export interface ConnectOptions {
  readonly port: number;
  /** Name of the key; `main` unless given; null: none is sent. */
  readonly key?: string | null;
  /** Path and query. */
  readonly target?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocols?: readonly string[];
}

/** What a handshake was refused with. */
export interface RefusedHandshake {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export class RealtimeClient {
  readonly socket: WebSocket;
  readonly events: RealtimeEvent[] = [];
  readonly texts: string[] = [];
  closed: { readonly code: number; readonly reason: string; readonly atMs: number } | undefined;
  pongs = 0;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data) => {
      const text = data.toString();
      this.texts.push(text);
      this.events.push(JSON.parse(text));
    });
    socket.on("close", (code, reason) => {
      this.closed = { code, reason: reason.toString(), atMs: performance.now() };
    });
    socket.on("pong", () => {
      this.pongs += 1;
    });
    socket.on("error", () => undefined);
  }

  send(event: object): void {
    this.socket.send(JSON.stringify(event));
  }

  of(type: string): RealtimeEvent[] {
    return this.events.filter((event) => event.type === type);
  }

  waitFor(type: string, count = 1, deadlineMs = 5_000): Promise<RealtimeEvent> {
    return waitFor(`${count} x ${type}`, () => this.of(type)[count - 1], { deadlineMs });
  }

  /** Members of the errors that the client was told. */
  get errors(): Readonly<Record<string, unknown>>[] {
    return this.of("error").map(({ error }) => (typeof error === "object" && error !== null ? { ...error } : {}));
  }

  /** Of the last one; empty where it was told none. */
  get lastError(): Readonly<Record<string, unknown>> {
    return this.errors.at(-1) ?? {};
  }

  waitClosed(deadlineMs = 5_000): Promise<NonNullable<RealtimeClient["closed"]>> {
    return waitFor("the close", () => this.closed, { deadlineMs });
  }
}

/** @returns a client whose socket is open, or what it was refused with */
export function openRealtime(options: ConnectOptions): Promise<RealtimeClient | RefusedHandshake> {
  const { port, key = "main", target = "/v1/realtime?model=talk", headers = {}, protocols = [] } = options;
  const authorization = key === null ? {} : { authorization: `Bearer ${rawKey(key)}` };
  const socket = new WebSocket(`ws://127.0.0.1:${port}${target}`, [...protocols], {
    perMessageDeflate: false,
    headers: { ...authorization, ...headers },
  });
  const client = new RealtimeClient(socket);
  return new Promise((resolve, reject) => {
    socket.on("open", () => resolve(client));
    socket.on("error", reject);
    socket.on("unexpected-response", (_request, response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
  });
}

export async function connectRealtime(options: ConnectOptions): Promise<RealtimeClient> {
  const opened = await openRealtime(options);
  if (opened instanceof RealtimeClient) return opened;
  throw new Error(`the handshake was refused: ${opened.status} ${opened.body}`);
}

export async function refusedRealtime(options: ConnectOptions): Promise<RefusedHandshake> {
  const opened = await openRealtime(options);
  if (!(opened instanceof RealtimeClient)) return opened;
  opened.socket.terminate();
  throw new Error("the handshake was accepted");
}
