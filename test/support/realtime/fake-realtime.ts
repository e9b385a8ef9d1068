/**
 * A scripted upstream of the realtime protocol: records handshakes and messages, says what a test wants, and breaks off
 * where it is told. Without a script it behaves as a provider does: a session, and a spoken answer to each question.
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { waitFor } from "#test/support/wait-for";

export interface RealtimeEvent {
  readonly type: string;
  readonly [name: string]: unknown;
}

/** One session of the upstream. */
export class FakeSession {
  readonly socket: WebSocket;
  /** For bytes that no library would send. */
  readonly raw: Duplex;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly received: RealtimeEvent[] = [];
  /** Messages as they came. */
  readonly texts: string[] = [];
  closed: { readonly code: number; readonly reason: string; readonly atMs: number } | undefined;
  #responses = 0;

  constructor(socket: WebSocket, request: IncomingMessage) {
    this.socket = socket;
    this.raw = request.socket;
    this.url = new URL(request.url ?? "", "http://upstream");
    this.headers = request.headers;
    socket.on("close", (code, reason) => {
      this.closed = { code, reason: reason.toString(), atMs: performance.now() };
    });
    socket.on("error", () => undefined);
  }

  send(event: RealtimeEvent): void {
    this.socket.send(JSON.stringify(event));
  }

  /** The events of this type so far. */
  of(type: string): RealtimeEvent[] {
    return this.received.filter((event) => event.type === type);
  }

  waitFor(type: string, count = 1): Promise<RealtimeEvent> {
    return waitFor(`the upstream to get ${count} x ${type}`, () => this.of(type)[count - 1]);
  }

  /** Begins a response. @param more of its description @returns its id */
  begin(more: object = {}): string {
    this.#responses += 1;
    const id = `resp_${this.#responses}`;
    this.send({ type: "response.created", event_id: `up_${id}`, response: { id, status: "in_progress", ...more } });
    return id;
  }

  /** Hears what was said, and says what it was. */
  transcribe(itemId: string, transcript: string, usage?: unknown): void {
    this.send({ type: "input_audio_buffer.committed", item_id: itemId });
    this.send({
      type: "conversation.item.input_audio_transcription.completed",
      item_id: itemId,
      transcript,
      ...(usage === undefined ? {} : { usage }),
    });
  }

  say(id: string, text: string): void {
    this.send({ type: "response.output_text.delta", event_id: "up_t", response_id: id, delta: text });
  }

  speak(id: string, bytes: number): void {
    const delta = Buffer.alloc(bytes).toString("base64");
    this.send({ type: "response.output_audio.delta", event_id: "up_a", response_id: id, delta });
  }

  finish(id: string, usage: unknown = usageOf(10, 5), status = "completed"): void {
    this.send({ type: "response.done", event_id: `up_d${id}`, response: { id, status, usage } });
  }
}

export type RealtimeScript = (session: FakeSession, event: RealtimeEvent) => void;

/** Text alone. */
export function usageOf(input: number, output: number): object {
  return {
    total_tokens: input + output,
    input_tokens: input,
    output_tokens: output,
    input_token_details: { text_tokens: input, audio_tokens: 0, cached_tokens: 0 },
    output_token_details: { text_tokens: output, audio_tokens: 0 },
  };
}

/** As a provider does. */
export const usual: RealtimeScript = (session, event) => {
  switch (event.type) {
    case "session.update":
      session.send({ type: "session.updated", event_id: "up_u", session: event["session"] });
      break;
    case "response.create": {
      const id = session.begin();
      session.say(id, "hello");
      session.finish(id);
      break;
    }
  }
};

export class FakeRealtime {
  readonly sessions: FakeSession[] = [];
  /** Connections that asked for a WebSocket, whatever they got. */
  handshakes = 0;
  /** What a handshake is answered with in place of a session. */
  refusal: { readonly status: number; readonly headers?: readonly string[]; readonly body?: string } | undefined;
  /** Never answers a handshake. */
  isSilent = false;
  script: RealtimeScript = usual;
  readonly #http: Server;
  readonly #sockets = new Set<Socket>();

  private constructor() {
    const acceptor = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 0 });
    this.#http = createServer((_request, response) => response.writeHead(404).end());
    this.#http.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket)).on("error", () => undefined);
    });
    this.#http.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.handshakes += 1;
      // Read, so that its end is seen.
      if (this.isSilent) socket.on("end", () => socket.end()).resume();
      else if (this.refusal !== undefined) socket.end(responseOf(this.refusal));
      else acceptor.handleUpgrade(request, socket, head, (accepted) => this.#open(accepted, request));
    });
  }

  static async start(): Promise<FakeRealtime> {
    const upstream = new FakeRealtime();
    await new Promise<void>((resolve) => upstream.#http.listen(0, "127.0.0.1", resolve));
    return upstream;
  }

  get port(): number {
    const address: AddressInfo | string | null = this.#http.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  /** The newest session. */
  get session(): FakeSession {
    const last = this.sessions.at(-1);
    if (last === undefined) throw new Error("no session has been opened");
    return last;
  }

  #open(socket: WebSocket, request: IncomingMessage): void {
    const session = new FakeSession(socket, request);
    this.sessions.push(session);
    socket.on("message", (data) => {
      const text = data.toString();
      session.texts.push(text);
      let event: RealtimeEvent;
      try {
        event = JSON.parse(text);
      } catch {
        return;
      }
      session.received.push(event);
      this.script(session, event);
    });
    const model = session.url.searchParams.get("model");
    session.send({ type: "session.created", event_id: "up_c", session: { type: "realtime", model } });
  }

  /** Cuts every connection without a close. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    this.cut();
    await closed;
  }
}

function responseOf({ status, headers = [], body = "" }: NonNullable<FakeRealtime["refusal"]>): string {
  const lines = [`HTTP/1.1 ${status} Refused`, `content-length: ${Buffer.byteLength(body)}`, "connection: close"];
  return [...lines, ...headers, "", body].join("\r\n");
}
