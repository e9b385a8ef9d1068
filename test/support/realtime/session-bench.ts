/**
 * One session between two connections of our own, with calls whose reservation takes as long as a test likes: for what only
 * happens while the ledger is asked. Sessions of a whole gateway are made by `realtime-rig.ts`.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Caller } from "#proxy/dispatch/admitted-call";
import type { ClientVerdict } from "#proxy/endpoints/realtime/session/client-rules";
import {
  RealtimeSession,
  type SessionOptions,
  type UpstreamSide,
} from "#proxy/endpoints/realtime/session/realtime-session";
import type { SessionRules } from "#proxy/endpoints/realtime/session/session-rules";
import { CallsInFlight, type CallTerms } from "#proxy/endpoints/realtime/usage/calls-in-flight";
import { ConversationSize } from "#proxy/endpoints/realtime/usage/conversation-size";
import { nothingAdded } from "#proxy/endpoints/realtime/usage/message-size";
import type { GatewayError } from "#proxy/errors";
import { WebSocketConnection } from "#proxy/web-socket/web-socket";

/** Both ends of a connection. */
export async function socketPair(): Promise<readonly [theirs: Socket, ours: Socket]> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const { port } = server.address() as AddressInfo;
  const theirs = connect(port, "127.0.0.1");
  theirs.on("error", () => undefined);
  const ours = await accepted;
  server.close();
  return [theirs, ours];
}

function webSocketOver(socket: Socket, role: "client" | "server"): WebSocketConnection {
  const webSocket = new WebSocketConnection(socket, Buffer.alloc(0), { role, messageBytesMax: 1024 ** 2 });
  socket.on("data", (chunk: Buffer) => webSocket.receive(chunk));
  socket.pause();
  return webSocket;
}

/** Each message of the client asks for a response, which is reserved when the test says so. */
export class SessionBench {
  /** The far ends: what the client and the upstream hold. */
  readonly client: Socket;
  readonly upstream: Socket;
  readonly session: RealtimeSession;
  /** Of every message of the client; undefined: each asks for a response. */
  refusal: GatewayError | undefined;
  /** What became of each reservation, in order. */
  readonly ledger: string[] = [];
  readonly #ours: { readonly client: Socket; readonly upstream: Socket };
  readonly #side: UpstreamSide;
  readonly #reservations: ((refusal?: GatewayError) => void)[] = [];
  #asked = 0;

  private constructor(
    [client, ourClient]: readonly [Socket, Socket],
    [upstream, ourUpstream]: readonly [Socket, Socket],
    open: (side: UpstreamSide) => Promise<UpstreamSide>,
  ) {
    this.client = client;
    this.upstream = upstream;
    this.#ours = { client: ourClient, upstream: ourUpstream };
    const webSocket = webSocketOver(ourUpstream, "client");
    const calls = new CallsInFlight(new ConversationSize(), async () => 0);
    const rules = {
      calls,
      models: { names: ["talk"] },
      settled: async () => undefined,
      check: () => undefined,
      clean: (text: string) => text,
      isChannelAtFault: false,
      ofUpstream: () => "pass",
      ofClient: (bytes: Buffer) => {
        if (this.refusal !== undefined) return { refusal: this.refusal, about: undefined };
        return this.#ask(calls, Buffer.from(bytes));
      },
    };
    this.#side = { webSocket, rules: rules as unknown as SessionRules };
    const options: SessionOptions = {
      caller: callerOf(),
      client: webSocketOver(ourClient, "server"),
      open: () => open(this.#side),
    };
    this.session = new RealtimeSession(options);
  }

  async #ask(calls: CallsInFlight, forward: Buffer): Promise<ClientVerdict> {
    this.#asked += 1;
    const eventId = `r${this.#asked}`;
    const asked = { eventId, outputCap: 10, own: nothingAdded, isOutOfBand: false, metadata: undefined };
    const refusal = await calls.ask(asked, this.#terms(eventId));
    return refusal === undefined ? { forward, asked: eventId } : { refusal, about: eventId };
  }

  static async start(
    open: (side: UpstreamSide) => Promise<UpstreamSide> = async (side) => side,
  ): Promise<SessionBench> {
    return new SessionBench(await socketPair(), await socketPair(), open);
  }

  /** @returns when both sides have ended and all is settled */
  run(): Promise<void> {
    return this.session.run(this.#side);
  }

  /** Runs one whose upstream opens when the client names the model. */
  runLate(): Promise<void> {
    return this.session.run(undefined);
  }

  get reserving(): number {
    return this.#reservations.length;
  }

  /** The gateway reads nothing of the client. */
  get isClientPaused(): boolean {
    return this.#ours.client.isPaused();
  }

  /** What waits in the gateway for the client to take it. */
  get waitingForClient(): number {
    return this.#ours.client.writableLength;
  }

  /** The gateway knows that this side is gone. */
  isGone(side: "client" | "upstream"): boolean {
    return this.#ours[side].closed;
  }

  /** Lets the oldest reservation that waits come true. */
  reserve(refusal?: GatewayError): void {
    this.#reservations.shift()?.(refusal);
  }

  close(): void {
    this.client.destroy();
    this.upstream.destroy();
  }

  #terms(id: string): CallTerms {
    const note = (what: string) => async (): Promise<void> => {
      this.ledger.push(`${what} ${id}`);
    };
    const reservation = {
      record: { pieceSent: () => undefined },
      reserve: () => new Promise<GatewayError | undefined>((resolve) => this.#reservations.push(resolve)),
      settle: note("settled"),
      release: note("released"),
      report: () => undefined,
      refused: () => undefined,
    };
    return { reservation, fleet: { defaultOutputReserve: 100 }, route: {} } as unknown as CallTerms;
  }
}

function callerOf(): Caller {
  const ignore = (): void => undefined;
  const record = { requestId: "s", end: "--", pieceSent: ignore, upstreamStarted: ignore, upstreamEnded: ignore };
  const limits = { realtimePingMs: 20_000, slowReaderTimeoutMs: 30_000, jsonDepthMax: 64, jsonKeysMax: 1_000 };
  const services = {
    limits,
    openSessions: new Set(),
    log: {
      error: (text: string, { error }: { readonly error: unknown }) => {
        throw new Error(text, { cause: error });
      },
    },
  };
  return {
    services,
    record: { ...record, cut: ignore, clientLeft: ignore },
    inFlightBytes: { tryAcquire: () => true, release: ignore },
    found: {},
  } as unknown as Caller;
}
