/**
 * Defines what the request pipeline needs from a chat wire format, in two halves that can exist alone: the client's
 * half (`<format>/native/client-format.ts`) and the upstream's (`<format>/native/upstream-format.ts`).
 *
 * Where both sides speak the same format, the client's bytes pass with surgical edits and the upstream's bytes pass
 * back, watched by a filter that finds usage, errors and the end. Formats know nothing of channels' addresses, sockets
 * or the ledger, and no format knows another.
 */
import type { GatewayError } from "#proxy/errors";
import type { BodyEditor } from "#proxy/json/body-editor";
import type { ScannedObject } from "#proxy/json/strict-json";
import type { ChatEndpoint, ChatWireFormat, Protocol, UpstreamWireFormat } from "#proxy/neutral/wire";
import type { ChargedUnits } from "#proxy/settle/price";
import type { TokenUsage } from "#proxy/settle/usage";
import type { Channel, Route } from "#proxy/snapshot/types.gen";
import type { FoundMember } from "./body/member-at.ts";
import type { ModelCall } from "./model-call.ts";
import type { Produced } from "./stream/produced.ts";
import type { StreamOpening } from "./stream/stream-opening.ts";
import type { UpstreamErrorKind } from "./upstream-errors.ts";

export type { ChatEndpoint } from "#proxy/neutral/wire";

/** A client's call, read strictly and checked by the rules that hold for every provider. */
export interface ChatCall extends ModelCall {
  readonly endpoint: ChatEndpoint;
  readonly body: ScannedObject;
  /** Most output tokens of one candidate the client allows; undefined when it set none. */
  readonly outputCap: number | undefined;
  /** `n` or `candidateCount`; at least 1. */
  readonly candidates: number;
  /** Bytes of text in the prompt: the base of the input estimate. Base64 data and URLs are not text. */
  readonly textBytes: number;
  /** Images, documents and audio parts found. */
  readonly attachments: number;
  /** Whether the client wants usage in its stream (chat completions); always true in formats that always carry it. */
  readonly wantsStreamUsage: boolean;
}

/** What an attempt on one target changes in the body. */
export interface UpstreamPlan {
  readonly channel: Channel;
  readonly upstreamModel: string;
  /** `parameters` of the chosen target. */
  readonly targetRules: Route["targets"][number]["parameters"];
  /** Set with `quota.unboundedOutput: Cap` when the client set no cap: sent upstream as the format's own cap. */
  readonly outputCap: number | undefined;
  /** Paths of members that the route's model does not support; absent: none. */
  readonly unsupported?: readonly string[] | undefined;
  /** The client's name for a member; undefined where a translation added it. Absent where the body is the client's. */
  readonly clientsName?: ((name: string) => string | undefined) | undefined;
}

/** An error the upstream reported, in a body or inside a stream, classified by docs/design/errors.md 5. */
export interface UpstreamError {
  readonly kind: UpstreamErrorKind;
  readonly status: number;
  /** First text found in the body, not yet cut or cleaned; never shown to a client unless the kind allows it. */
  readonly message: string;
  readonly param: string | undefined;
  readonly retryAfterMs: number | undefined;
}

/** A whole reply that is not streamed. */
export interface ReplyReading {
  /** Undefined when the reply gives none. */
  readonly usage: TokenUsage | undefined;
  /** A body that is an error although its status says success. */
  readonly error: UpstreamError | undefined;
  /** Output, for an estimate where usage is absent; computed when called. */
  readonly produced: () => Produced;
  /** What is charged by the piece, where the reply tells; absent in chat. */
  readonly units?: ChargedUnits | undefined;
}

/**
 * Watches one upstream stream and says what may go on to the client.
 *
 * `push` takes the bytes as they arrive, cut anywhere, and returns the bytes of the events that are now complete and
 * may pass: the same memory where nothing had to be edited, so that a pass-through costs no copy. An event that is
 * incomplete waits inside, so a cut never lets half an event out.
 */
export interface StreamFilter {
  push(chunk: Buffer): readonly Buffer[];
  /** The upstream ended its body. Returns last bytes that may pass (an event without its final blank line). */
  end(): readonly Buffer[];
  /** Complete events seen, pings and comments included: restarts the idle timer when it moves. */
  readonly events: number;
  /** The last event seen, by its number from 1, for the log: `event 7`. */
  readonly position: string;
  /** The format's own terminator has been seen: only then may the client's stream end cleanly. */
  readonly isComplete: boolean;
  /** Nothing more is needed of the upstream: what the client asked for is complete before the upstream's end. */
  readonly isCut?: boolean;
  /** Set when the upstream sent an error event. The error event itself is not among the bytes returned. */
  readonly error: UpstreamError | undefined;
  /** Set when the bytes break the format beyond repair (event over the cap, not UTF-8): end with an error. */
  readonly violation: string | undefined;
  /** Last usage seen, undefined when none yet. */
  readonly usage: TokenUsage | undefined;
  /** Bytes held back at the moment (an incomplete event). */
  readonly heldBytes: number;
  /** At least one event with content has passed, so tokens were produced. */
  readonly hasContent: boolean;
  /** Output so far, for an estimate when usage never came. */
  produced(): Produced;
  /** What is charged by the piece, as far as the stream has told; absent in chat. */
  readonly units?: ChargedUnits | undefined;
}

/** An event that may pass, for a translator. */
export interface PassedEvent {
  readonly name: string | undefined;
  /** Text of the data lines; undefined for comments. */
  readonly data: string | undefined;
  /** Parsed data; undefined where it is no JSON. */
  readonly json: unknown;
}

/** What the renderer of errors needs besides the error. */
export interface ErrorContext {
  readonly requestId: string;
  /** Public model name, when known. */
  readonly model?: string;
}

export interface RenderedError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What both halves of a format know: how its calls are read. */
export interface CallFormat {
  readonly format: UpstreamWireFormat;
  readonly protocol: Protocol;
  /** Nested keys that the scan of a body must report as hits (`ScanOptions.watch`); one constant array. */
  readonly watchedKeys: readonly string[];
  /**
   * Reads a scanned body as a call of this format and checks what is sure to be wrong for every provider
   * (docs/design/interface.md 2 and 8).
   * @throws GatewayError `missing_parameter`, `invalid_type`, `invalid_value`, `unsupported_parameter`,
   *   `wrong_protocol` (the message names the right base address)
   */
  readCall(body: ScannedObject, endpoint: ChatEndpoint): ChatCall;
  /**
   * Finds a member by its path in this format, however the client spelled it; undefined when absent or null.
   * @throws GatewayError when it stands there twice
   */
  findMember(call: ChatCall, path: string): FoundMember | undefined;
  /** Content type of a successful stream or reply. */
  contentType(call: ChatCall): string;
}

/** The half of a format that clients speak. */
export interface ClientFormat extends CallFormat {
  readonly format: ChatWireFormat;
  /**
   * Writes a sign of life in the form that the format's clients count (docs/design/agents.md 1 and 2). Whole frames;
   * they fit before the response and between any two of its events.
   * @param filter of the reply, once it has begun
   */
  signOfLife(call: ChatCall, opening: StreamOpening, filter?: StreamFilter): Buffer;
  /**
   * The last bytes of a stream that failed after its first byte; no terminator of success.
   * @param filter undefined when no reply had begun
   */
  renderStreamError(
    error: GatewayError,
    context: ErrorContext,
    filter: StreamFilter | undefined,
    call: ChatCall,
    opening?: StreamOpening,
  ): Buffer;
  /**
   * Whether a stream ends cleanly behind its failure event, as the providers end it. Clients let a broken transport
   * outrank the failure that they have read (docs/design/requests.md 3). False where clients may skip the event: then
   * only the broken transport tells that the response is not whole.
   */
  readonly failsCleanly: boolean;
}

/** The half of a format that upstreams are spoken to in. A provider's own format has this half alone. */
export interface UpstreamFormat extends CallFormat {
  /**
   * Applies, in this order: the interface's own spellings brought to what providers take, usage forced in streams, what
   * the model and the provider do not support, channel body rules, target rules, model name, output cap, privacy table.
   * @returns fields of the client's that were dropped, by its own names
   * @throws GatewayError for `unsupportedParameters: Reject`
   */
  editBody(call: ChatCall, plan: UpstreamPlan, editor: BodyEditor): readonly string[];
  /**
   * Whether a successful body is a whole reply.
   * @param parsed the body's JSON, where it was parsed before
   * @throws GatewayError `upstream_error` when it is not JSON
   */
  readReply(body: Buffer, parsed?: unknown): ReplyReading;
  /** @param onEvent takes the events that may pass, parsed, in place of their bytes: for a client of another format */
  createStreamFilter(call: ChatCall, eventBytesMax: number, onEvent?: (event: PassedEvent) => void): StreamFilter;
}
