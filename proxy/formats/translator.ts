/**
 * Defines what one wire format brings to translation, in two halves that can exist alone: readers of requests and
 * writers of replies and streams for its clients, writers of requests and readers of replies and streams for its
 * upstreams.
 *
 * They are in `<format>/translate/client-translator.ts` and `upstream-translator.ts`, which know only their own format
 * and the neutral forms (`neutral/conversation.ts`, `neutral/reply.ts`): four readers and four writers make twelve
 * conversions, and no pair has code of its own. All of it is pure but for ids and time, which are given.
 */

import type { GatewayError } from "#proxy/errors";
import type { JsonObject } from "#proxy/json/json-value";
import type { Conversation, MediaPart } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";
import type { FieldNames, NeutralField } from "#proxy/neutral/losses/neutral-fields";
import type { Reply, ReplyEvent } from "#proxy/neutral/reply";
import type { StateKeeper } from "#proxy/neutral/state/keeper";
import type { ModelOnChannel } from "#proxy/neutral/traits/memoise-traits";
import type { ChatWireFormat, UpstreamWireFormat } from "#proxy/neutral/wire";
import type { ChatEndpoint, ErrorContext } from "./format.ts";
import type { StreamOpening } from "./stream/stream-opening.ts";
import type { SpliceLimits, TurnSplicer } from "./turn-splicer.ts";

/** How the gateway reads the requests of a format's clients and writes their responses. */
export interface ClientTranslator {
  readonly format: ChatWireFormat;
  /**
   * A client's body as a conversation. The body has passed `CallFormat.readCall`; content of unknown shape or type is
   * refused, never dropped.
   * @throws GatewayError naming the client's field
   */
  readRequest(body: JsonObject, endpoint: ChatEndpoint): Conversation;
  /** A whole reply for this format's client. */
  writeReply(reply: Reply, context: ReplyContext): JsonObject;
  createStreamWriter(context: ReplyContext): StreamWriter;
  /**
   * How this format's client spells the neutral fields, for errors and losses: `sampling.seed` is `seed` in one format and
   * `generationConfig.seed` in another.
   */
  readonly fieldNames: FieldNames;
  /** How the texts begin by which `removeSealedState` knows what to take out: the envelope's mark, unless told here. */
  readonly sealedStateMarks?: readonly string[];
  /**
   * A body of this format for an upstream of this format, without state that is not that provider's own: blocks that
   * this gateway sealed for another channel in an earlier turn. The same object when there is none. Called only when
   * the body holds one of `sealedStateMarks`.
   */
  removeSealedState(body: JsonObject): JsonObject;
}

/** How upstreams of a format are asked and understood. */
export interface UpstreamTranslator {
  readonly format: UpstreamWireFormat;
  /**
   * The conversation as a body of this format: complete and clean, but for the edits that every channel makes
   * (`UpstreamFormat.editBody`: model name, channel and target rules, privacy, usage forced in streams).
   * @throws GatewayError naming the client's field, for what would change meaning or the channel rejects
   */
  writeRequest(conversation: Conversation, target: TranslationTarget, losses: Losses): WrittenRequest;
  /**
   * Whether a file that the client named by its address must be fetched before `writeRequest`, because this format (or
   * this target) takes only content. None when absent.
   */
  needsDownload?(part: MediaPart, target: Pick<TranslationTarget, "channel" | "upstreamModel">): boolean;
  /**
   * A whole reply with a success status.
   * @param declared names of the client's tools, for formats whose models wrap calls in one that nobody declared
   * @throws InvalidReply
   */
  readReply(body: JsonObject, declared?: ReadonlySet<string>): Reply;
  createStreamReader(declared?: ReadonlySet<string>): StreamReader;
  /** Its streams tell sources behind other content than the text that they are of. */
  readonly citesLate?: true;
  /**
   * For formats whose providers may pause a turn (`ReplyAdaptation.mayPause`).
   * @param request body that the turn begins with
   */
  createTurnSplicer?(request: Buffer, limits: SpliceLimits): TurnSplicer;
}

/** Where a written request goes, and what is known about it. */
export interface TranslationTarget extends ModelOnChannel {
  /** `info.maxOutputTokens` of the route. */
  readonly outputTokensMax: number | undefined;
  readonly states: StateKeeper;
  /** How the client spells a neutral field (`ClientTranslator.fieldNames` of the client's format). */
  readonly fieldName: (field: NeutralField) => string;
}

export interface WrittenRequest {
  readonly body: JsonObject;
  readonly adaptation: ReplyAdaptation;
}

/**
 * How the reply must be changed so that it fits what the client asked for, because the request was written in other terms.
 * Applied between reader and writer by `adapt-reply.ts`.
 */
export interface ReplyAdaptation {
  /** Tool names that were changed: upstream's to the client's. */
  readonly toolNames?: ReadonlyMap<string, string> | undefined;
  /** By the upstream's name of a tool, names of its arguments that were changed: upstream's to the client's. */
  readonly argumentKeys?: ReadonlyMap<string, ReadonlyMap<string, string>> | undefined;
  /** Custom tools (client's names) that went as functions with one string member `input`. */
  readonly customTools?: ReadonlySet<string> | undefined;
  /** Function whose arguments are the output: becomes text, and `tool-calls` becomes `stop`. */
  readonly outputTool?: string | undefined;
  /** The output is a JSON object with this one member, whose value the client gets (strings go out bare). */
  readonly unwrapMember?: string | undefined;
  /** Stop sequences the upstream does not know: the reply is cut at the first one found in its visible text. */
  readonly stop?: readonly string[] | undefined;
  /** The upstream may end a reply by saying that the model's call was malformed: alone that is no success. */
  readonly refusesMalformedCall?: boolean | undefined;
  /** Tools that the provider runs may make it pause the turn, which the gateway then continues. */
  readonly mayPause?: boolean | undefined;
  /** Asked for as prose: a Markdown fence around the JSON is taken off. */
  readonly isFencedJson?: boolean | undefined;
}

/** What a writer of replies knows about its client and the call. */
export interface ReplyContext {
  readonly conversation: Conversation;
  /** The client's body, for formats that echo it. */
  readonly clientBody: JsonObject;
  readonly endpoint: ChatEndpoint;
  /** Sources of a text may come behind its end: the upstream searches, and tells them so (`UpstreamTranslator.citesLate`). */
  readonly citesLate?: boolean | undefined;
  /** Whether the client wants usage in its stream. */
  readonly wantsStreamUsage: boolean;
  /** Prompt tokens as estimated before the call, for a `message_start` whose upstream tells only later. */
  readonly inputTokensEstimate: number;
  readonly nowSeconds: number;
  /** A fresh id: prefix and 24 letters and digits. */
  readonly newId: (prefix: string) => string;
  readonly states: StateKeeper;
  /** What a streaming client was told before any reply. */
  readonly opening?: StreamOpening | undefined;
  /**
   * Told the whole response before the end of a response that succeeded goes out, for formats whose clients may refer to
   * it later. Absent where nothing is kept.
   */
  readonly onResponse?: ((response: JsonObject) => void) | undefined;
}

/** One event of an upstream's stream, framing removed: the `event:` field and the joined `data:`. */
export interface WireEvent {
  readonly name: string | undefined;
  readonly data: string;
  /** The data as `parseJson` reads it, where it was parsed before; undefined where it was not, or is no JSON. */
  readonly json?: unknown;
}

export interface StreamReader {
  /** @throws InvalidReply when it cannot be an event of this format at this place */
  read(event: WireEvent): readonly ReplyEvent[];
  /** The upstream ended its body after its terminator: what is still open is closed, finished and ended. */
  end(): readonly ReplyEvent[];
}

export interface StreamWriter {
  /** Its end repeats the response, so all of it is held until then. */
  readonly holdsWholeReply?: true;
  /** Text to send, whole frames; empty when there is nothing to say yet. */
  write(event: ReplyEvent): string;
  /** Where events are numbered: a sign of life; empty before it has begun. */
  signOfLife?(): string;
  /** Last frames of a stream that failed; never a sign of success. `start` may not have come. */
  fail(error: GatewayError, context: ErrorContext): string;
}
