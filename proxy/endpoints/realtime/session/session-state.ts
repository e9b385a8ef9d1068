/**
 * What is known of one session, for the rules of both directions: its models, its size, its cap, what it has asked for, and
 * the terms of each call in it. Knows no socket.
 */
import type { Caller } from "#proxy/dispatch/admitted-call";
import { authenticateAgain } from "#proxy/dispatch/live-caller";
import { CallsInFlight, type CallTerms } from "#proxy/endpoints/realtime/usage/calls-in-flight";
import { ConversationSize } from "#proxy/endpoints/realtime/usage/conversation-size";
import { ResponseReservation } from "#proxy/endpoints/realtime/usage/response-reservation";
import { GatewayError } from "#proxy/errors";
import type { ClientErrorContext } from "#proxy/formats/client-error";
import type { SelectedTarget } from "#proxy/route/select-target";
import { upstreamModelOf } from "#proxy/route/upstream-model";
import { secretsOf } from "#proxy/upstream/request/request-headers";
import { authorizeRealtime, type RoutedModel, SessionModels } from "./session-models.ts";
import { SessionUpdates } from "./session-updates.ts";

/** What the rules ask of the session. */
export interface SessionEffects {
  toUpstream(message: string): void;
  /** The upstream began something that it must not: the client is told why, and the session ends. */
  overran(error: GatewayError): void;
  /** A call has ended: nothing may run any more. */
  settled(): void;
  /** Our own code failed. */
  failed(error: unknown): void;
}

export interface SessionContext {
  readonly caller: Caller;
  readonly selected: SelectedTarget;
  /** Of the model that the session was opened for. */
  readonly opened: RoutedModel;
  readonly isConversation: boolean;
  readonly effects: SessionEffects;
}

export class SessionState {
  readonly context: SessionContext;
  readonly models: SessionModels;
  readonly calls: CallsInFlight;
  readonly size = new ConversationSize();
  readonly updates = new SessionUpdates();
  readonly #running = new Set<Promise<void>>();
  #count = 0;
  /** The upstream told an error that concerns the channel: what it closes with is no matter of the client. */
  isChannelAtFault = false;

  constructor(context: SessionContext) {
    const { caller, selected, opened, isConversation } = context;
    this.context = context;
    this.models = new SessionModels(selected, isConversation ? opened : undefined);
    this.calls = new CallsInFlight(this.size, caller.services.estimateTokens);
  }

  /** What text of the upstream must not tell the client. */
  get names(): ClientErrorContext {
    const { caller, selected, opened } = this.context;
    const { channel, credential } = selected;
    const upstreamModel = upstreamModelOf({ ...selected, route: opened.route }, opened.model);
    const { requestId } = caller.record;
    return { publicModel: opened.model, upstreamModel, channelSecrets: secretsOf(channel, credential), requestId };
  }

  /**
   * By the configuration that holds now. Where the key may not use the model any more, what runs all the same is charged
   * by what held before.
   */
  terms(routed: RoutedModel): { readonly terms: CallTerms; readonly refusal: GatewayError | undefined } {
    const { caller, selected } = this.context;
    let live = caller;
    let { route } = routed;
    let refusal: GatewayError | undefined;
    try {
      live = authenticateAgain(caller);
      route = authorizeRealtime(live, routed.model);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      refusal = error;
    }
    const channelName = selected.target.channel;
    const channel = live.snapshot.channel(channelName) ?? selected.channel;
    this.#count += 1;
    const reservation = new ResponseReservation(
      { caller: live, route, channel, model: routed.model, channelName },
      `${caller.record.requestId}.${this.#count}`,
    );
    return { terms: { reservation, route, fleet: live.snapshot.fleet }, refusal };
  }

  /** For a message of the client that has none: the upstream names it where it refuses the message. */
  nextEventId(): string {
    this.#count += 1;
    return `event_${this.context.caller.record.requestId}.${this.#count}`;
  }

  /** Messages do not wait for what follows from them; the end of the session does. */
  run(work: Promise<void>): void {
    const { effects } = this.context;
    const done = work
      .catch((error: unknown) => effects.failed(error))
      .finally(() => {
        this.#running.delete(done);
        effects.settled();
      });
    this.#running.add(done);
  }

  /** What follows from the messages so far has been done. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }
}
