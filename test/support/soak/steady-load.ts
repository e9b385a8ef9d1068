/**
 * Clients that never stop: every format, whole and streamed, many calls on one connection, some that leave half-way.
 *
 * Counts what it did, so that a test can hold the gateway's own counters against it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { RawClient } from "#test/support/raw-client";
import { callBytes } from "#test/support/resilience/call-gateway";
import { type FormatUnderTest, formats } from "#test/support/resilience/formats";

export interface SteadyLoadOptions {
  readonly port: number;
  readonly model: string;
  /** Connections at any time. */
  readonly clients: number;
  /** A client rests so long between two calls. */
  readonly restMs: number;
}

/** A connection is closed after so many calls: connecting is part of the load. */
const callsPerConnection = 8;
/** One call of this many is left by its client. */
const leavesOneIn = 5;
const failuresKeptMax = 20;

export class SteadyLoad {
  /** Calls of which at least the first byte was sent. */
  started = 0;
  /** Answers with status 200 that came to their clean end. */
  whole = 0;
  /** Calls whose client left on purpose. */
  left = 0;
  /** What else became of calls, the first few of them. */
  readonly failures: string[] = [];
  readonly #options: SteadyLoadOptions;
  readonly #running: Promise<void>[];
  #isStopping = false;

  constructor(options: SteadyLoadOptions) {
    this.#options = options;
    this.#running = Array.from({ length: options.clients }, (_, index) => this.#client(index));
  }

  /** Lets every call end and closes the connections. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#running);
  }

  async #client(index: number): Promise<void> {
    let serial = index;
    while (!this.#isStopping) {
      try {
        const client = await RawClient.connect({ port: this.#options.port });
        try {
          for (let calls = 0; calls < callsPerConnection && !this.#isStopping; calls += 1) {
            serial += 1;
            const isOpen = await this.#call(client, formats[serial % formats.length], serial);
            if (!isOpen) break;
            await sleep(this.#options.restMs);
          }
        } finally {
          client.close();
        }
      } catch (error) {
        this.#fail(String(error));
        await sleep(this.#options.restMs);
      }
    }
  }

  /** @returns whether the connection can be used again */
  async #call(client: RawClient, format: FormatUnderTest | undefined, serial: number): Promise<boolean> {
    if (format === undefined) return false;
    const { port, model } = this.#options;
    // Counted from its own quotient, so that every format is called in both ways.
    const stream = Math.floor(serial / formats.length) % 3 !== 0;
    const prompt = `call ${serial}: say this again, word by word, so that there is something to stream`;
    this.started += 1;
    client.write(callBytes({ port, model, format, stream, prompt }));
    if (serial % leavesOneIn === 0) {
      await this.#leave(client, serial);
      return false;
    }
    const answer = await client.readResponse(30_000);
    if (answer.status === 200 && answer.isComplete) this.whole += 1;
    else this.#fail(`${format.name} ${answer.status}: ${answer.body.toString("utf8").slice(0, 200)}`);
    return answer.isComplete;
  }

  /** At once, or when the answer has begun; by FIN or by reset. */
  async #leave(client: RawClient, serial: number): Promise<void> {
    this.left += 1;
    if (serial % 2 === 0) await client.readUntil("the answer begins", (received) => received.length > 0, 30_000);
    if (serial % 3 === 0) client.reset();
    else client.close();
  }

  #fail(what: string): void {
    if (this.failures.length < failuresKeptMax) this.failures.push(what);
  }
}
