/** Calls at a steady rate, over kept connections as real clients do: who failed, and when. */
import { Agent, request } from "node:http";
import type { FormatUnderTest } from "#test/support/resilience/formats";
import { rawKey } from "#test/support/resilience/manifests";

export interface LoadOptions {
  /** Ports that take turns. */
  readonly ports: readonly number[];
  readonly format: FormatUnderTest;
  readonly model: string;
  readonly key?: string;
  readonly perSecond: number;
  /**
   * Calls once more where a kept connection was closed just as it was used, before any byte of an answer, as the official
   * SDKs do: HTTP/1.1 leaves a server no way to close one that cannot meet a call (RFC 9112 section 9.6).
   */
  readonly retriesKept?: boolean;
}

/** One call, by what came of it. */
export interface CallOutcome {
  /** HTTP status; 0: the connection failed. */
  readonly status: number;
  readonly sentAtMs: number;
  /** Where the connection failed: before any byte of an answer, or within it. */
  readonly lostOn?: "new connection" | "kept connection" | "answer";
}

type Answered = Omit<CallOutcome, "sentAtMs">;

export class SteadyLoad {
  readonly outcomes: CallOutcome[] = [];
  /** Calls that were made once more; see `retriesKept`. */
  retried = 0;
  readonly #options: LoadOptions;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly #timer: NodeJS.Timeout;
  readonly #open = new Set<Promise<void>>();
  #sent = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    const beganAtMs = performance.now();
    this.#timer = setInterval(() => {
      // By the clock and not by the beat: a busy machine must not make the load lighter.
      const due = Math.floor(((performance.now() - beganAtMs) * options.perSecond) / 1_000);
      for (; this.#sent < due; this.#sent += 1) this.#send();
    }, 5);
  }

  /** Calls that did not end with 200. */
  get failures(): CallOutcome[] {
    return this.outcomes.filter(({ status }) => status !== 200);
  }

  /** Ends the load and waits for the answers still to come. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
    this.#agent.destroy();
  }

  #send(): void {
    const { ports } = this.#options;
    const port = ports[this.#sent % ports.length] ?? 0;
    const sentAtMs = performance.now();
    const noted = this.#callWithRetry(port).then((outcome) => {
      this.outcomes.push({ ...outcome, sentAtMs });
      this.#open.delete(noted);
    });
    this.#open.add(noted);
  }

  async #callWithRetry(port: number): Promise<Answered> {
    const first = await this.#call(port);
    if (first.lostOn !== "kept connection" || this.#options.retriesKept !== true) return first;
    this.retried += 1;
    return await this.#call(port);
  }

  #call(port: number): Promise<Answered> {
    const { format, model, key = "main" } = this.#options;
    return new Promise((resolve) => {
      const body = JSON.stringify(format.body(model, false, "hi"));
      const [name = "", value = ""] = format.keyHeader(rawKey(key)).split(": ");
      const headers = { [name]: value, "content-type": "application/json" };
      const options = { port, method: "POST", path: format.path(model, false), headers, agent: this.#agent };
      const outgoing = request({ host: "127.0.0.1", timeout: 10_000, ...options }, (reply) => {
        reply.resume();
        reply.on("end", () => resolve({ status: reply.statusCode ?? 0 }));
        reply.on("error", () => resolve({ status: 0, lostOn: "answer" }));
      });
      outgoing.on("timeout", () => outgoing.destroy());
      outgoing.on("error", () =>
        resolve({ status: 0, lostOn: outgoing.reusedSocket ? "kept connection" : "new connection" }),
      );
      outgoing.end(body);
    });
  }
}
