/**
 * A TCP relay in user space that makes a network bad: latency, stall, cut, reset, refusal. It stands between any two
 * programs of a test and knows nothing of what they say.
 */
import { connect, createServer, type Server, type Socket } from "node:net";

export interface RelayTarget {
  readonly port?: number;
  readonly host?: string;
  /** Or a Unix socket. */
  readonly path?: string;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

export class FaultRelay {
  readonly #server: Server;
  readonly #target: RelayTarget;
  readonly #pairs = new Set<Pair>();
  readonly #held: (() => void)[] = [];
  #latencyMs = 0;
  #isStalled = false;
  #isRefusing = false;
  /** Bytes carried, by direction. */
  bytesUp = 0;
  bytesDown = 0;
  connectionCount = 0;

  constructor(target: RelayTarget) {
    this.#target = target;
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
  }

  /** @param listenPath a Unix socket to listen on; a free TCP port of 127.0.0.1 when absent */
  static async start(target: RelayTarget, listenPath?: string): Promise<FaultRelay> {
    const relay = new FaultRelay(target);
    await new Promise<void>((resolve, reject) => {
      relay.#server.once("error", reject);
      if (listenPath === undefined) relay.#server.listen(0, "127.0.0.1", resolve);
      else relay.#server.listen(listenPath, resolve);
    });
    return relay;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  get openConnections(): number {
    return this.#pairs.size;
  }

  /** Each piece arrives this much later, in both directions. */
  setLatency(milliseconds: number): void {
    this.#latencyMs = milliseconds;
  }

  /** Nothing passes until `resume`; connections stay open: the silent failure. */
  stall(): void {
    this.#isStalled = true;
  }

  resume(): void {
    this.#isStalled = false;
    for (const release of this.#held.splice(0)) release();
  }

  /** New connections are reset. */
  refuse(isRefusing: boolean): void {
    this.#isRefusing = isRefusing;
  }

  /** FIN to both sides of every connection. */
  cut(): void {
    for (const { client, server } of this.#pairs) {
      client.end();
      server.end();
    }
  }

  /** RST to both sides of every connection. */
  reset(): void {
    for (const { client, server } of this.#pairs) {
      reset(client);
      reset(server);
    }
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
    this.#pairs.clear();
    await closed;
  }

  #accept(client: Socket): void {
    client.on("error", () => undefined);
    if (this.#isRefusing) {
      reset(client);
      return;
    }
    this.connectionCount += 1;
    const { path, port = 0, host = "127.0.0.1" } = this.#target;
    const server =
      path === undefined ? connect({ port, host, allowHalfOpen: true }) : connect({ path, allowHalfOpen: true });
    const pair = { client, server };
    this.#pairs.add(pair);
    this.#carry(client, server, (count) => {
      this.bytesUp += count;
    });
    this.#carry(server, client, (count) => {
      this.bytesDown += count;
    });
    const forget = (): void => {
      if (client.destroyed && server.destroyed) this.#pairs.delete(pair);
    };
    client.on("close", forget);
    server.on("close", forget);
  }

  #carry(from: Socket, to: Socket, count: (bytes: number) => void): void {
    from.on("error", () => reset(to));
    from.on("data", (chunk: Buffer) => {
      count(chunk.length);
      this.#later(() => {
        if (!to.destroyed) to.write(chunk);
      });
    });
    from.on("end", () => this.#later(() => to.end()));
  }

  #later(action: () => void): void {
    const run = (): void => {
      if (this.#isStalled) this.#held.push(action);
      else action();
    };
    if (this.#latencyMs === 0) run();
    else setTimeout(run, this.#latencyMs);
  }
}

/** A Unix socket knows no RST: there the end is all. */
function reset(socket: Socket): void {
  if (socket.remoteFamily === undefined) socket.destroy();
  else socket.resetAndDestroy();
}
