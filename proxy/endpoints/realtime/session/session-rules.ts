/**
 * The rules of one session: what becomes of each message, and what follows from it for the calls that are charged.
 *
 * Knows no socket. The session (`realtime-session.ts`) sends what this returns and does what it asks for.
 */

import type { GatewayError } from "#proxy/errors";
import { cleanUpstreamText } from "#proxy/formats/client-error";
import { ClientRules, type ClientVerdict } from "./client-rules.ts";
import { type SessionContext, SessionState } from "./session-state.ts";
import { UpstreamRules, type UpstreamVerdict } from "./upstream-rules.ts";

export class SessionRules {
  readonly #state: SessionState;
  readonly #client: ClientRules;
  readonly #upstream: UpstreamRules;

  constructor(context: SessionContext) {
    this.#state = new SessionState(context);
    this.#client = new ClientRules(this.#state);
    this.#upstream = new UpstreamRules(this.#state);
  }

  get models(): SessionState["models"] {
    return this.#state.models;
  }

  get calls(): SessionState["calls"] {
    return this.#state.calls;
  }

  get isChannelAtFault(): boolean {
    return this.#state.isChannelAtFault;
  }

  /**
   * A promise only for a message that must be reserved first.
   * @param bytes not kept @param ending why no response may begin any more
   */
  ofClient(bytes: Buffer, ending: GatewayError | undefined): ClientVerdict | Promise<ClientVerdict> {
    return this.#client.judge(bytes, ending);
  }

  /** @param bytes not kept */
  ofUpstream(bytes: Buffer): UpstreamVerdict {
    return this.#upstream.judge(bytes);
  }

  /** Text of the upstream as the client may see it. */
  clean(text: string): string {
    return cleanUpstreamText(text, this.#state.names);
  }

  /** Gives back what the upstream never replied to. */
  check(nowMs: number): void {
    if (this.#state.calls.hasUnanswered(nowMs)) this.#state.run(this.#state.calls.forgetUnanswered(nowMs));
  }

  /** What follows from the messages so far has been done. */
  settled(): Promise<void> {
    return this.#state.settled();
  }
}
