/**
 * Defines how one wire format changes a reply between streaming and not streaming: whole for a client that does not
 * stream though the upstream did, as events for one that streams though the upstream did not
 * (docs/design/translation.md 1 and 9.3).
 *
 * Both sides speak the format, so nothing goes through the neutral form: every object keeps all its members, known here
 * or not. Each format has one implementation, in its `translate/aggregate/`.
 */
import type { ChatCall } from "#proxy/formats/format";
import type { JsonObject } from "#proxy/json/json-value";

/** One event of a stream: its name as the `event:` line says it, and its data. */
export interface JsonEvent {
  readonly name: string | undefined;
  readonly json: JsonObject;
}

export interface AggregatedReply {
  readonly reply: JsonObject;
  /** Of what the events said that a whole reply has no place for: by the format's own names, each once. */
  readonly lost: readonly string[];
}

export interface ReplayContext {
  /** As the client made it. */
  readonly call: ChatCall;
  /** A fresh id: prefix and 24 letters and digits. */
  readonly newId: (prefix: string) => string;
}

export interface Aggregation {
  /**
   * The whole reply that a stream tells.
   * @param events of a stream that came to its end, as the format's filter let them pass
   * @throws InvalidReply when they are not a reply of the format
   */
  aggregateStream(events: Iterable<JsonEvent>): AggregatedReply;
  /**
   * The stream that tells a whole reply, frame by frame in the format's grammar.
   * @throws InvalidReply when it is not a reply of the format
   */
  replayReply(reply: JsonObject, context: ReplayContext): Iterable<string>;
}
