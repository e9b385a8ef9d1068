/**
 * Says what becomes of each event of a session's upstream: it passes as it came, in the client's names, or not at all; and
 * what follows from it for the calls that are charged.
 */
import { typeAtStart } from "#proxy/endpoints/realtime/messages/message-type";
import {
  cancelEvent,
  cleanErrorEvent,
  cleanFailedResponse,
  cleanFailedTranscription,
  withPublicNames,
} from "#proxy/endpoints/realtime/messages/server-event";
import { type CallTerms, inputFormatOf, outputFormatOf } from "#proxy/endpoints/realtime/usage/calls-in-flight";
import { audioBytesPerSecond } from "#proxy/endpoints/realtime/usage/conversation-size";
import { isDelta } from "#proxy/endpoints/realtime/usage/produced-output";
import { GatewayError } from "#proxy/errors";
import { asObject, isObject, type JsonObject, member, parseJson } from "#proxy/json/json-value";
import type { SessionState } from "./session-state.ts";

/** What an event of the upstream's comes to. */
export type UpstreamVerdict =
  /** It goes to the client as it came. */
  | "pass"
  | "drop"
  /** It is no message of the protocol. */
  | "invalid"
  | { readonly event: string };

export class UpstreamRules {
  readonly #state: SessionState;

  constructor(state: SessionState) {
    this.#state = state;
  }

  /** @param bytes not kept */
  judge(bytes: Buffer): UpstreamVerdict {
    const type = typeAtStart(bytes);
    if (type !== undefined && isDelta(type)) {
      this.#state.calls.produced(type, bytes);
      return "pass";
    }
    if (type !== undefined && !watched.has(type)) return "pass";
    const event = parseJson(bytes.toString());
    if (!isObject(event) || typeof event["type"] !== "string") return "invalid";
    return this.#watch(event["type"], event, bytes);
  }

  #watch(type: string, event: JsonObject, bytes: Buffer): UpstreamVerdict {
    switch (type) {
      case "session.created":
      case "transcription_session.created":
        // The client of a transcription was told before there was an upstream.
        return this.#state.context.isConversation ? this.#described(event) : "drop";
      case "session.updated":
      case "transcription_session.updated":
        return this.#updated(event);
      case "rate_limits.updated":
        // Those of the channel's account, whose other callers the client must not see.
        return "drop";
      case "error":
        return this.#error(event);
      case "response.created":
        this.#state.run(this.#began(event));
        return "pass";
      case "response.done":
        this.#state.run(this.#state.calls.responded(asObject(event["response"]) ?? {}));
        return said(cleanFailedResponse(event, this.#state.names));
      case "input_audio_buffer.committed":
        this.#state.run(this.#heard(event));
        return "pass";
      case "conversation.item.input_audio_transcription.completed":
        return this.#transcribed(event);
      case "conversation.item.input_audio_transcription.failed":
        this.#state.run(this.#state.calls.transcribed(event));
        return said(cleanFailedTranscription(event, this.#state.names));
      default:
        if (isDelta(type)) this.#state.calls.produced(type, bytes);
        return "pass";
    }
  }

  #updated(event: JsonObject): UpstreamVerdict {
    const { models, calls, size, updates } = this.#state;
    const update = updates.taken();
    models.updated(update?.transcriber, event["session"]);
    if (update !== undefined) {
      size.updateSession(update.memberBytes);
      const { outputCap } = update;
      if (outputCap !== undefined) calls.outputCap = outputCap === "none" ? undefined : outputCap;
    }
    return this.#described(event);
  }

  #described(event: JsonObject): UpstreamVerdict {
    const { session } = event;
    const { models, calls, size } = this.#state;
    calls.outputFormat = outputFormatOf(session);
    size.bytesPerSecond = audioBytesPerSecond(inputFormatOf(session));
    return { event: JSON.stringify(withPublicNames(event, models.publicNames, models.conversation?.model)) };
  }

  #error(event: JsonObject): UpstreamVerdict {
    const { event: cleaned, isChannelAtFault, error } = cleanErrorEvent(event, this.#state.names);
    this.#state.isChannelAtFault ||= isChannelAtFault;
    const about = member(event["error"], "event_id");
    if (typeof about === "string") {
      this.#state.updates.refused(about);
      this.#state.run(this.#state.calls.refused(about, error));
    }
    return { event: JSON.stringify(cleaned) };
  }

  async #began(event: JsonObject): Promise<void> {
    const { models, calls, context } = this.#state;
    const response = asObject(event["response"]) ?? {};
    let late: GatewayError | undefined;
    const terms = (): CallTerms => {
      const made = this.#state.terms(models.conversation ?? context.opened);
      late = made.refusal;
      return made.terms;
    };
    const refusal = (await calls.began(response, terms)) ?? late;
    if (refusal === undefined) return;
    const { id } = response;
    context.effects.toUpstream(cancelEvent(typeof id === "string" && id !== "" ? id : undefined));
    context.effects.overran(refusal);
  }

  /** One that was not reserved when it began is charged at its end; one that nobody asked for has no price. */
  #transcribed(event: JsonObject): UpstreamVerdict {
    const { models, calls, context } = this.#state;
    if (!calls.isTranscribing(event)) {
      if (models.transcription === undefined || typeof event["item_id"] !== "string") {
        context.effects.overran(unaskedTranscription);
        return "drop";
      }
      this.#state.run(this.#heard(event));
    }
    this.#state.run(calls.transcribed(event));
    return "pass";
  }

  async #heard(event: JsonObject): Promise<void> {
    const { models, calls, context } = this.#state;
    const { transcription } = models;
    const itemId = event["item_id"];
    if (transcription === undefined || typeof itemId !== "string") return;
    const made = this.#state.terms(transcription);
    const refusal = (await calls.heard(itemId, made.terms)) ?? made.refusal;
    if (refusal !== undefined) context.effects.overran(refusal);
  }
}

const unaskedTranscription = new GatewayError(
  "upstream_error",
  "Upstream server error: it transcribed what no model had been named for.",
);

/** An event in the gateway's words; as it came where nothing of it had to be changed. */
function said(event: JsonObject | undefined): UpstreamVerdict {
  return event === undefined ? "pass" : { event: JSON.stringify(event) };
}

/** Events that are parsed; those of the beta interface among them. */
const watched: ReadonlySet<string> = new Set([
  "session.created",
  "session.updated",
  "transcription_session.created",
  "transcription_session.updated",
  "rate_limits.updated",
  "error",
  "response.created",
  "response.done",
  "input_audio_buffer.committed",
  "conversation.item.input_audio_transcription.completed",
  "conversation.item.input_audio_transcription.failed",
]);
