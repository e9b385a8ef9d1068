/**
 * A load balancer for connections that learns late who is ready: what stands in front of proxies in a cluster. It asks
 * `/readyz` all the time and acts on what it heard a random while later; what is connected stays connected.
 */
import { connect, createServer, type Server, type Socket } from "node:net";

export interface Backend {
  /** Data port. */
  readonly port: number;
  isReady(): Promise<boolean>;
}

interface Known {
  readonly backend: Backend;
  heard: boolean;
  /** What it goes by. */
  believed: boolean;
}

const askEveryMs = 50;

export class LaggingRelay {
  readonly #server: Server;
  readonly #lagMs: readonly [least: number, most: number];
  readonly #known = new Set<Known>();
  readonly #sockets = new Set<Socket>();
  readonly #asking: NodeJS.Timeout;
  #turn = 0;

  private constructor(lagMs: readonly [number, number]) {
    this.#lagMs = lagMs;
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
    this.#asking = setInterval(() => {
      for (const known of this.#known) void this.#ask(known);
    }, askEveryMs);
  }

  /** @param lagMs between hearing and acting, the least and the most */
  static async start(lagMs: readonly [least: number, most: number]): Promise<LaggingRelay> {
    const relay = new LaggingRelay(lagMs);
    await new Promise<void>((resolve) => relay.#server.listen(0, "127.0.0.1", resolve));
    return relay;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  add(backend: Backend): void {
    this.#known.add({ backend, heard: false, believed: false });
  }

  /** Whether new connections go there. */
  believesIn(backend: Backend): boolean {
    return [...this.#known].some((known) => known.backend === backend && known.believed);
  }

  async close(): Promise<void> {
    clearInterval(this.#asking);
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #ask(known: Known): Promise<void> {
    const isReady = await known.backend.isReady().catch(() => false);
    if (isReady === known.heard) return;
    known.heard = isReady;
    const [least, most] = this.#lagMs;
    setTimeout(
      () => {
        known.believed = isReady;
        if (!isReady) this.#known.delete(known);
      },
      least + Math.random() * (most - least),
    ).unref();
  }

  #accept(client: Socket): void {
    const ready = [...this.#known].filter(({ believed }) => believed);
    this.#turn += 1;
    const target = ready[this.#turn % ready.length];
    if (target === undefined) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect({ port: target.backend.port, host: "127.0.0.1", allowHalfOpen: true });
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    }
    client.on("error", () => upstream.destroy());
    // A connection that is refused or reset is the client's to see.
    upstream.on("error", () => client.resetAndDestroy());
    client.pipe(upstream).pipe(client);
  }
}
