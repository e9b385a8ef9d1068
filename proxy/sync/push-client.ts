/**
 * Runs the proxy's end of the push protocol: connects, keeps the store in step with the operator, acknowledges, and
 * reconnects after every failure with jittered backoff. It never takes anything away from the store: without an
 * operator the proxy serves on with its last configuration (docs/design/reliability.md P4).
 */
import { setImmediate as giveWay } from "node:timers/promises";
import { encodeSums } from "#proxy/snapshot/digest";
import { Interner } from "#proxy/snapshot/index/intern";
import { capabilityNames } from "#proxy/snapshot/push/capabilities";
import {
  type Acknowledgement,
  type DownMessage,
  type Hello,
  protocolVersion,
  type Report,
  rejectsMax,
  type UpMessage,
  type Welcome,
} from "#proxy/snapshot/push/messages";
import { MessageError, parseDownMessage } from "#proxy/snapshot/push/parse-message";
import { watchesBehind } from "#proxy/snapshot/push/resource-versions";
import { FrameTooLargeError } from "#proxy/snapshot/push/split-lines";
import { systemTimers, type Timers } from "#proxy/snapshot/push/timers";
import { acknowledge, ChangeApplier, RefusalError } from "./apply-changes.ts";
import type { PushStream, PushTransport } from "./push-transport.ts";
import type { SnapshotStore } from "./snapshot-store.ts";

export interface PushClientOptions {
  readonly transport: PushTransport;
  readonly store: SnapshotStore;
  /** Name of this process in the fleet; unique. */
  readonly proxy: string;
  readonly build: string;
  /** What this proxy understands beyond the fields that all do; by default what this version does. */
  readonly capabilities?: readonly string[];
  readonly heartbeatMs: number;
  readonly deadMs: number;
  /** Told of what happens to the connection, for logs and metrics; holds no configuration. */
  readonly onEvent?: (event: PushClientEvent) => void;
  readonly timers?: Timers;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

export type PushClientEvent =
  | { readonly type: "connected"; readonly operator: string; readonly sync: Welcome["sync"] }
  | { readonly type: "disconnected"; readonly reason: string; readonly retryInMs: number }
  | { readonly type: "refused"; readonly code: RefusalError["code"]; readonly message: string };

const backoffFirstMs = 50;
const backoffMaxMs = 5_000;

interface Session {
  readonly stream: PushStream;
  readonly applier: ChangeApplier;
  welcome: Welcome | undefined;
  /** What the operator holds was taken whole: from here on its word is up to date. */
  isInStep: boolean;
}

export class PushClient {
  readonly #options: PushClientOptions;
  readonly #timers: Timers;
  readonly #interner = new Interner();
  #session: Session | undefined;
  #lastOperator = "";
  #wantsEverything = false;
  #isClosed = false;
  #failures = 0;
  #heardAt: number;
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #goAwayWithinMs: number | undefined;
  #wake: (() => void) | undefined;
  #running: Promise<void> | undefined;

  constructor(options: PushClientOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
    this.#heardAt = this.#timers.now();
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends the connection; the store keeps what it has. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#session?.stream.close();
    this.#wake?.();
    await this.#running;
  }

  get isConnected(): boolean {
    return this.#session?.welcome !== undefined;
  }

  /** Time since an operator was last heard: how stale the configuration may be. */
  get silentForMs(): number {
    return this.#timers.now() - this.#heardAt;
  }

  /**
   * Time since an operator was last heard whose configuration this proxy holds: what was revoked before is known. Infinite
   * before the first one, also where a configuration came from a file.
   */
  get unconfirmedForMs(): number {
    return this.#timers.now() - this.#confirmedAt;
  }

  /** Sends usage up if an operator is connected; lost otherwise, as reports may be. */
  report(report: Report): boolean {
    const session = this.#session;
    if (session?.welcome === undefined) return false;
    this.#send(session, report);
    return true;
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      let reason = "the operator closed the stream";
      try {
        await this.#converse();
      } catch (cause) {
        reason = describe(cause);
      }
      if (this.#isClosed) return;
      const retryInMs = this.#retryDelayMs();
      this.#options.onEvent?.({ type: "disconnected", reason, retryInMs });
      await this.#sleep(retryInMs);
    }
  }

  async #converse(): Promise<void> {
    const stream = await this.#options.transport.open(this.#hello());
    const session: Session = {
      stream,
      applier: new ChangeApplier(this.#options.store, this.#interner, this.#timers),
      welcome: undefined,
      isInStep: false,
    };
    this.#session = session;
    this.#heardAt = this.#timers.now();
    const stopWatching = this.#watchSilence(stream);
    try {
      if (this.#isClosed) return;
      for await (const line of stream.lines) {
        this.#heardAt = this.#timers.now();
        await this.#receive(session, parseDownMessage(line));
        if (session.isInStep) this.#confirmedAt = this.#heardAt;
        if (this.#goAwayWithinMs !== undefined) return;
        // Many lines may be at hand already; requests get their turn between them.
        if (line.length > 1024) await giveWay();
      }
    } catch (cause) {
      await this.#refuse(session, cause);
      throw cause;
    } finally {
      stopWatching();
      this.#session = undefined;
      stream.close();
    }
  }

  async #receive(session: Session, message: DownMessage): Promise<void> {
    // An operator that is behind may say so instead of welcoming.
    if (session.welcome === undefined && message.type !== "welcome" && message.type !== "goaway") {
      throw new RefusalError("unexpected_message", "a stream must begin with welcome");
    }
    switch (message.type) {
      case "welcome":
        this.#welcome(session, message);
        return;
      case "transaction":
      case "begin":
      case "part":
      case "commit": {
        const acknowledgement = await session.applier.apply(message);
        if (acknowledgement !== undefined) this.#acknowledge(session, acknowledgement);
        return;
      }
      case "revoke":
        this.#options.store.revoke(message);
        return;
      case "ping":
        this.#send(session, { type: "pong", at: Math.round(this.#timers.wallClock()) });
        return;
      case "pong":
        return;
      case "goaway":
        this.#goAwayWithinMs = message.withinMs;
        return;
      default:
        message satisfies never;
    }
  }

  #welcome(session: Session, welcome: Welcome): void {
    if (welcome.protocol !== protocolVersion) {
      throw new RefusalError("unexpected_message", "the operator chose a version this proxy does not speak");
    }
    const { store } = this.#options;
    if (session.welcome !== undefined) throw new RefusalError("unexpected_message", "welcome came twice");
    if (welcome.sync === "none" && welcome.digest !== store.live.digest) {
      throw new RefusalError("wrong_digest", "the operator takes this proxy for up to date, but their digests differ");
    }
    const behind = watchesBehind(welcome.complete, store.versions);
    if (welcome.epoch < store.epoch || (welcome.epoch === store.epoch && behind.length > 0)) {
      // Whatever its reasons, it would bring back what was deleted.
      throw new RefusalError("stale_operator", "the operator has seen less of the source than this proxy");
    }
    session.welcome = welcome;
    if (welcome.operator !== this.#lastOperator || welcome.epoch !== store.epoch) {
      store.beginCountingAnew(welcome.epoch, Object.keys(welcome.complete).length > 0);
      this.#lastOperator = welcome.operator;
    }
    this.#options.onEvent?.({ type: "connected", operator: welcome.operator, sync: welcome.sync });
    if (welcome.sync !== "none") return;
    store.confirm(welcome.revision, welcome.epoch, welcome.versions);
    this.#acknowledge(session, acknowledge(store, 0));
  }

  #acknowledge(session: Session, acknowledgement: Acknowledgement): void {
    this.#failures = 0;
    this.#wantsEverything = false;
    session.isInStep = true;
    this.#send(session, acknowledgement);
  }

  #send(session: Session, message: UpMessage): void {
    if (session.welcome === undefined) return;
    // A message that does not arrive leaves the operator with a wrong view: begin anew.
    session.stream.send(session.welcome.stream, message).catch(() => session.stream.close());
  }

  /** Tells the operator why, if it still listens; the next hello asks for everything. */
  async #refuse(session: Session, cause: unknown): Promise<void> {
    const refusal = asRefusal(cause);
    if (refusal === undefined) return;
    this.#wantsEverything = true;
    this.#options.onEvent?.({ type: "refused", code: refusal.code, message: refusal.message });
    if (session.welcome === undefined) return;
    const { code, message } = refusal;
    const refused = { ...acknowledge(this.#options.store, 0), refused: { code, message } };
    await session.stream.send(session.welcome.stream, refused).catch(() => undefined);
  }

  #hello(): Hello {
    const { store, proxy, build } = this.#options;
    // What was refused as deleted counts in the sums, and in a new epoch it may be good again: then it must be resent.
    const refusedDeleted = store.rejects.some(({ code }) => code === "removed");
    const holdsSomething = store.isReady && !this.#wantsEverything && !refusedDeleted;
    return {
      type: "hello",
      protocols: [protocolVersion],
      build,
      proxy,
      capabilities: this.#options.capabilities ?? capabilityNames,
      epoch: store.epoch,
      revision: store.live.revision,
      digest: store.live.digest,
      sums: holdsSomething ? encodeSums(store.live.sums) : "",
      rejects: store.rejects.slice(0, rejectsMax),
      versions: store.versions,
    };
  }

  #watchSilence(stream: PushStream): () => void {
    let cancel = () => {};
    const check = () => {
      if (this.#timers.now() - this.#heardAt >= this.#options.deadMs) stream.close();
      else cancel = this.#timers.after(this.#options.heartbeatMs, check);
    };
    cancel = this.#timers.after(this.#options.heartbeatMs, check);
    return () => cancel();
  }

  #retryDelayMs(): number {
    const random = this.#options.random ?? Math.random;
    const goAwayWithinMs = this.#goAwayWithinMs;
    this.#goAwayWithinMs = undefined;
    if (goAwayWithinMs !== undefined) return Math.round(random() * Math.min(goAwayWithinMs, 60_000));
    const delayMs = Math.min(backoffFirstMs * 2 ** this.#failures, backoffMaxMs);
    this.#failures += 1;
    return Math.round(delayMs / 2 + (random() * delayMs) / 2);
  }

  async #sleep(delayMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#timers.after(delayMs, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
    this.#wake = undefined;
  }
}

function asRefusal(cause: unknown): { code: RefusalError["code"]; message: string } | undefined {
  if (cause instanceof RefusalError || cause instanceof MessageError || cause instanceof FrameTooLargeError)
    return cause;
  return undefined;
}

function describe(cause: unknown): string {
  return cause instanceof Error ? cause.message : "unknown";
}
