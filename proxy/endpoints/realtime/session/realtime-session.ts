/**
 * Relays one session: messages pass both ways as they came, but for the few that the gateway must look into
 * (`session-rules.ts`). One side that is slow makes the other wait. Whatever ends it, the calls that run are settled once.
 *
 * A session that only transcribes begins without an upstream: its client names the model first.
 */

import type { Caller } from "#proxy/dispatch/admitted-call";
import type { OpenSession } from "#proxy/dispatch/sessions/open-sessions";
import { namedModels, readClientMessage } from "#proxy/endpoints/realtime/messages/client-message";
import { errorEvent, transcriptionCreated } from "#proxy/endpoints/realtime/messages/server-event";
import { GatewayError } from "#proxy/errors";
import { ClientGoneError } from "#proxy/http/read-body";
import type { Snapshot } from "#proxy/snapshot/snapshot";
import { brokenOff, goingAway, isSendable, normalClosure } from "#proxy/web-socket/close-codes";
import type { WebSocketConnection } from "#proxy/web-socket/web-socket";
import type { ClientVerdict } from "./client-rules.ts";
import {
  binaryMessage,
  drained,
  type Ending,
  endingOf,
  endingOfOverrun,
  endingOfUpstream,
  overloaded,
  revoked,
  tooLong,
  upstreamInvalid,
  upstreamLost,
} from "./endings.ts";
import { isSessionAllowed } from "./is-session-allowed.ts";
import { Peer } from "./peer.ts";
import type { SessionRules } from "./session-rules.ts";
import type { SessionEffects } from "./session-state.ts";
import type { UpstreamVerdict } from "./upstream-rules.ts";

/** A session's upstream side. */
export interface UpstreamSide {
  readonly webSocket: WebSocketConnection;
  readonly rules: SessionRules;
}

export interface SessionOptions {
  readonly caller: Caller;
  readonly client: WebSocketConnection;
  /** Opens the upstream of a session whose client names the model late. @throws GatewayError */
  readonly open: (model: string, effects: SessionEffects) => Promise<UpstreamSide>;
}

export class RealtimeSession implements OpenSession, SessionEffects {
  readonly #options: SessionOptions;
  readonly #client: Peer;
  readonly #startedMs = performance.now();
  #upstream: Peer | undefined;
  #rules: SessionRules | undefined;
  /** Messages of the client that wait for one before them. */
  #waiting: Buffer[] | undefined;
  #work: Promise<void> | undefined;
  /** It ends when nothing runs any more. */
  #endsWhenIdle: Ending | undefined;
  /** The client is told more refusals than it reads. */
  #mustReadFirst = false;
  #isOver = false;
  #eventCount = 0;
  #heldBytes = 0;
  #openPeers = 1;
  #resolve: () => void = () => {};
  /** Both sides have ended. */
  readonly #closed: Promise<void>;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#client = this.#peer(options.client);
    this.#closed = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  #peer(webSocket: WebSocketConnection): Peer {
    const { realtimePingMs: pingMs, slowReaderTimeoutMs: slowMs } = this.#options.caller.services.limits;
    return new Peer(webSocket, { pingMs, slowMs });
  }

  /** Runs until both sides have ended and all is settled. @param upstream undefined: opened when its model is named */
  async run(upstream: UpstreamSide | undefined): Promise<void> {
    const { services, record } = this.#options.caller;
    record.status = 101;
    record.pieceSent();
    // What the gateway itself takes is told apart from what the two sides take to say.
    record.upstreamStarted();
    this.#client.listen({
      onMessage: (message, frame, isBinary) => this.#ofClient(message, frame, isBinary),
      onReadEnd: () => this.#upstream?.flush(),
      onDrained: () => {
        this.#mustReadFirst = false;
        this.#updateReading();
      },
      onClosed: (code, reason, isViolation) => this.#clientClosed(code, reason, isViolation),
    });
    if (upstream !== undefined) this.#connect(upstream);
    else this.#client.send(transcriptionCreated(record.requestId, this.#nextId()));
    services.openSessions.add(this);
    try {
      await this.#closed;
    } finally {
      services.openSessions.delete(this);
      this.#hold(0);
      record.upstreamEnded();
      record.requestBytes = this.#client.messageBytes;
      record.responseBytes = this.#upstream?.messageBytes ?? 0;
      await this.#settle();
    }
  }

  /** What the client said last may still be reserved; only then is it known what runs. */
  async #settle(): Promise<void> {
    await this.#work;
    const { record } = this.#options.caller;
    await this.#rules?.settled();
    // Where nobody failed, the client has left what still ran.
    const error = record.errorCode === undefined ? undefined : new GatewayError(record.errorCode, "");
    await this.#rules?.calls.end(error, record.end === "--" ? "CD" : record.end);
  }

  #connect({ webSocket, rules }: UpstreamSide): void {
    const upstream = this.#peer(webSocket);
    this.#upstream = upstream;
    this.#rules = rules;
    this.#openPeers += 1;
    upstream.listen({
      onMessage: (message, frame, isBinary) => this.#ofUpstream(message, frame, isBinary),
      onReadEnd: () => this.#client.flush(),
      onDrained: () => this.#updateReading(),
      onClosed: (code, reason, isViolation) => this.#upstreamClosed(code, reason, isViolation),
    });
    // Nobody looks after it any more: it may never answer a close.
    if (this.#isOver) upstream.terminate();
    else this.#updateReading();
  }

  /** @param message readable during the call alone @param frame its bytes as they came, where it came in one frame */
  #ofClient(message: Buffer, frame: Buffer | undefined, isBinary: boolean): void {
    if (this.#isOver) return;
    this.#client.messageBytes += message.length;
    if (isBinary) this.#end(binaryMessage);
    else this.#take(message, frame);
  }

  #take(message: Buffer, frame: Buffer | undefined): void {
    if (this.#waiting !== undefined) this.#waiting.push(Buffer.from(message));
    else this.#handle(message, frame);
  }

  #handle(message: Buffer, frame: Buffer | undefined): void {
    let verdict: ClientVerdict | Promise<ClientVerdict>;
    try {
      verdict = this.#judge(message);
    } catch (error) {
      this.failed(error);
      return;
    }
    if (!(verdict instanceof Promise)) {
      this.#apply(verdict, message, frame);
      return;
    }
    this.#waiting = [];
    this.#updateReading();
    this.#work = verdict.then((late) => this.#applyLate(late)).catch((error: unknown) => this.failed(error));
  }

  async #applyLate(verdict: ClientVerdict): Promise<void> {
    this.#apply(verdict, noBytes, undefined);
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    if (this.#isOver) {
      // Neither this message nor one behind it goes upstream: what was reserved for it is given back.
      if (verdict !== "pass" && "asked" in verdict) await this.#rules?.calls.unsent(verdict.asked);
      return;
    }
    // Where one of them must be reserved as well, the rest wait behind it.
    for (const message of waiting) if (!this.#isOver) this.#take(message, undefined);
    this.#updateReading();
  }

  #judge(message: Buffer): ClientVerdict | Promise<ClientVerdict> {
    if (this.#rules === undefined) return this.#openLate(Buffer.from(message));
    return this.#rules.ofClient(message, this.#endsWhenIdle?.error);
  }

  /** Of a transcription: nothing goes upstream before its model is known. */
  #openLate(message: Buffer): ClientVerdict | Promise<ClientVerdict> {
    const { limits } = this.#options.caller.services;
    let about: string | undefined;
    try {
      const read = readClientMessage(message, { depthMax: limits.jsonDepthMax, keysMax: limits.jsonKeysMax });
      about = read.eventId;
      const named = namedModels(read).find(({ use }) => use === "transcription");
      if (named !== undefined) return this.#opened(named.model, named.path.join("."), message, about);
      const param = "session.audio.input.transcription.model";
      throw new GatewayError("missing_parameter", `Name a model first: send 'session.update' with '${param}'.`, {
        param,
      });
    } catch (error) {
      if (error instanceof GatewayError) return { refusal: error, about };
      throw error;
    }
  }

  async #opened(model: string, param: string, message: Buffer, about: string | undefined): Promise<ClientVerdict> {
    try {
      const upstream = await this.#options.open(model, this);
      this.#connect(upstream);
      const verdict = await upstream.rules.ofClient(message, this.#endsWhenIdle?.error);
      return verdict === "pass" ? { forward: message } : verdict;
    } catch (error) {
      if (error instanceof GatewayError) {
        return { refusal: new GatewayError(error.code, error.message, { param, cause: error.cause }), about };
      }
      if (error instanceof ClientGoneError) return { refusal: upstreamLost.error, about };
      throw error;
    }
  }

  #apply(verdict: ClientVerdict, message: Buffer, frame: Buffer | undefined): void {
    if (this.#isOver) return;
    if (verdict !== "pass" && "refusal" in verdict) this.#refuse(verdict.refusal, verdict.about);
    else if (this.#upstream !== undefined) {
      if (verdict !== "pass") this.#upstream.send(verdict.forward);
      else if (frame === undefined) this.#upstream.send(message);
      else this.#upstream.pass(frame);
      if (this.#upstream.isFull) this.#updateReading();
    }
  }

  #refuse(error: GatewayError, about: string | undefined): void {
    const ending = this.#endsWhenIdle === undefined ? endingOf(error) : undefined;
    if (ending !== undefined) this.#end(ending, about);
    else this.#tell(error, about);
  }

  #tell(error: GatewayError, about: string | undefined): void {
    this.#client.send(errorEvent(error, this.#options.caller.record.requestId, this.#nextId(), about));
    if (!this.#client.isFull) return;
    this.#mustReadFirst = true;
    this.#updateReading();
  }

  #ofUpstream(message: Buffer, frame: Buffer | undefined, isBinary: boolean): void {
    if (this.#rules === undefined || this.#upstream === undefined) return;
    this.#upstream.messageBytes += message.length;
    let verdict: UpstreamVerdict;
    try {
      verdict = isBinary ? "invalid" : this.#rules.ofUpstream(message);
    } catch (error) {
      this.failed(error);
      return;
    }
    // What comes after the end is counted, and goes to nobody.
    if (this.#isOver || verdict === "drop") return;
    if (verdict === "invalid") {
      this.#end(upstreamInvalid);
      return;
    }
    if (verdict !== "pass") this.#client.send(verdict.event);
    else if (frame === undefined) this.#client.send(message);
    else this.#client.pass(frame);
    if (this.#client.isFull) this.#updateReading();
  }

  toUpstream(message: string): void {
    this.#upstream?.send(message);
  }

  overran(error: GatewayError): void {
    this.#end(endingOfOverrun(error));
  }

  settled(): void {
    const ending = this.#endsWhenIdle;
    if (ending !== undefined && this.#rules?.calls.isIdle !== false) this.#end(ending);
  }

  failed(cause: unknown): void {
    const { record, services } = this.#options.caller;
    services.log.error("a session failed for an unexpected reason", { request: record.requestId, error: cause });
    const message = `Internal error: the gateway failed to handle this session (${record.requestId}).`;
    this.#end({ error: new GatewayError("internal", message, { cause }), closeCode: 1011, end: "ID" });
  }

  /** One side is not read while the other takes no more, or while a message of its own must wait. */
  #updateReading(): void {
    if (this.#isOver) return;
    this.#client.setPaused(this.#waiting !== undefined || this.#mustReadFirst || this.#upstream?.isFull === true);
    this.#upstream?.setPaused(this.#client.isFull);
  }

  isAllowed(snapshot: Snapshot, nowMs: number): boolean {
    return isSessionAllowed(this.#options.caller, this.#rules?.models.names ?? [], snapshot, nowMs);
  }

  revoke(isImmediate: boolean): void {
    if (isImmediate) this.#end(revoked);
    else this.#endWhenIdle(revoked);
  }

  drain(): void {
    this.#endWhenIdle(drained);
  }

  cut(): void {
    this.#end(drained);
  }

  #endWhenIdle(ending: Ending): void {
    this.#endsWhenIdle ??= ending;
    this.settled();
  }

  check(nowMs: number): void {
    const { limits } = this.#options.caller.services;
    if (nowMs - this.#startedMs > limits.realtimeSessionMs) this.#end(tooLong);
    this.#hold(this.#isOver ? 0 : this.#client.heldBytes + (this.#upstream?.heldBytes ?? 0));
    this.#rules?.check(nowMs);
    const { record } = this.#options.caller;
    const cause = this.#client.check(nowMs);
    if (cause !== undefined && !this.#isOver) record.clientLeft(cause === "slow" ? "cD" : "CD");
    if (this.#upstream?.check(nowMs) !== undefined) this.#end(upstreamLost);
  }

  /** Counts what both sides hold as bodies of calls are counted: many large messages that never end fill the memory. */
  #hold(bytes: number): void {
    const { inFlightBytes } = this.#options.caller;
    const more = bytes - this.#heldBytes;
    if (more > 0 && !inFlightBytes.tryAcquire(more)) {
      this.#end(overloaded);
      return;
    }
    if (more < 0) inFlightBytes.release(-more);
    this.#heldBytes = bytes;
  }

  /** The gateway ends it: the client is told why, in an event and in the close. */
  #end(ending: Ending, about?: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { error, closeCode, end } = ending;
    this.#options.caller.record.cut(error.code, end);
    this.#tell(error, about);
    this.#client.close(closeCode, error.message);
    this.#upstream?.close(1000, "");
  }

  #clientClosed(code: number, reason: string, isViolation: boolean): void {
    if (!this.#isOver) {
      this.#isOver = true;
      const hasLeft = code === brokenOff;
      const { record } = this.#options.caller;
      if (hasLeft && record.end === "--") record.clientLeft("CD");
      // What the client broke, the upstream did not.
      if (hasLeft || isViolation) this.#upstream?.close(goingAway, "the client has left");
      else this.#upstream?.close(isSendable(code) ? code : undefined, reason);
    }
    this.#peerClosed();
  }

  #upstreamClosed(code: number, reason: string, isViolation: boolean): void {
    if (!this.#isOver) {
      const ending = endingOfUpstream(code, isViolation, this.#rules?.isChannelAtFault === true);
      if (ending !== undefined) this.#end(ending);
      else this.#closedByUpstream(code, reason);
    }
    this.#peerClosed();
  }

  /** With its own code. Only the reason of a usual end is told: that of another one may be about the channel's account. */
  #closedByUpstream(code: number, reason: string): void {
    this.#isOver = true;
    const { error, end } = upstreamLost;
    if (this.#rules?.calls.isEmpty === false) this.#options.caller.record.cut(error.code, end);
    const isUsual = code === normalClosure || code === goingAway;
    this.#client.close(isSendable(code) ? code : undefined, isUsual ? (this.#rules?.clean(reason) ?? "") : "");
  }

  #peerClosed(): void {
    this.#openPeers -= 1;
    if (this.#openPeers === 0) this.#resolve();
  }

  #nextId(): string {
    this.#eventCount += 1;
    return `event_${this.#options.caller.record.requestId}-${this.#eventCount}`;
  }
}

const noBytes = Buffer.alloc(0);
