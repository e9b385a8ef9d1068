/**
 * Defines the neutral form of a chat request: what a client of any format asked for, in terms that no format owns.
 *
 * A reader (`formats/<format>/translate/request/read/`) makes one of a client's body, a writer (`request/write/` beside
 * it) makes an upstream's body of it; readers and writers do not know each other. Absent members are `undefined`: `0`,
 * `""`, `false` and `[]` are values. A conversation is never changed in place (docs/design/translation.md 2).
 */
import type { JsonObject } from "#proxy/json/json-value";
import type { NeutralField } from "./losses/neutral-fields.ts";

export interface Conversation {
  /** Public model name as the client wrote it. */
  readonly model: string;
  readonly stream: boolean;
  /** System turns keep their place. */
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice | undefined;
  readonly parallelTools?: boolean | undefined;
  readonly sampling: Sampling;
  /** Most output tokens, thinking included. */
  readonly outputCap?: number | undefined;
  /** The cap came as chat's `max_tokens`, which users take for visible text: thinking may be added to it. */
  readonly outputCapIsVisibleText?: boolean | undefined;
  readonly reasoning?: ReasoningOptions | undefined;
  readonly outputFormat?: OutputFormat | undefined;
  readonly verbosity?: string | undefined;
  readonly modalities?: readonly ("text" | "audio" | "image")[] | undefined;
  readonly audioOutput?: { readonly voice?: string | undefined; readonly format?: string | undefined } | undefined;
  /** The client's name for its end user. */
  readonly user?: string | undefined;
  readonly safetyIdentifier?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly promptCacheKey?: string | undefined;
  readonly promptCacheRetention?: string | undefined;
  /** OpenAI's, as far as both its formats have them: `mode` and `ttl`. */
  readonly promptCacheOptions?: JsonObject | undefined;
  /** Anthropic's top-level `cache_control`: the provider places the mark itself. */
  readonly automaticCache?: CacheHint | undefined;
  readonly serviceTier?: string | undefined;
  /** Whether the provider may keep the exchange (`store`). */
  readonly store?: boolean | undefined;
  /** Google's safety settings, kept as they came. */
  readonly safetySettings?: readonly unknown[] | undefined;
  /** Chat's older `functions` and `function_call`: the response must use that form too. */
  readonly usesLegacyFunctions?: boolean | undefined;
  /**
   * Members of the client's body that this form has no place for, as the client spells them: dropped or refused by the
   * channel's policy, never silently.
   */
  readonly unmapped: readonly string[];
  /** The client's spelling of fields for which its format has several, for errors and declared losses. */
  readonly clientSpelling?: Readonly<Partial<Record<NeutralField, string>>> | undefined;
}

export type Role = "system" | "user" | "assistant" | "tool";

export interface Turn {
  readonly role: Role;
  /** A system turn that was a `developer` message. */
  readonly isDeveloper?: boolean | undefined;
  readonly name?: string | undefined;
  readonly parts: readonly Part[];
}

/** `where` is the path of the part in the client's body, for errors: `messages[2].content[0]`. */
interface PartBase {
  readonly where?: string | undefined;
  readonly cache?: CacheHint | undefined;
}

export interface CacheHint {
  /** As the client said it: `5m` and `1h` are Anthropic's times, `30m` and `12h` OpenAI's. */
  readonly ttl?: string | undefined;
  /** Came as OpenAI's `prompt_cache_breakpoint`, else as Anthropic's `cache_control`. */
  readonly isBreakpoint?: boolean | undefined;
}

export interface TextPart extends PartBase {
  readonly kind: "text";
  readonly text: string;
  /** State that came with this text (Google signs final texts). */
  readonly states?: readonly CarriedState[] | undefined;
}
export interface RefusalPart extends PartBase {
  readonly kind: "refusal";
  readonly text: string;
}
/** Thinking of an earlier turn. Without state a provider that asks for signatures must not get it. */
export interface ReasoningPart extends PartBase {
  readonly kind: "reasoning";
  readonly text: string;
  readonly states?: readonly CarriedState[] | undefined;
}
export interface MediaPart extends PartBase {
  readonly kind: "media";
  readonly media: "image" | "audio" | "video" | "document";
  /** Lower case, without parameters; undefined when nothing told. */
  readonly mime?: string | undefined;
  readonly source: MediaSource;
  /** OpenAI's `detail`: low, high, auto, original. */
  readonly detail?: string | undefined;
  readonly filename?: string | undefined;
  /** Anthropic's document title and context. */
  readonly title?: string | undefined;
  readonly context?: string | undefined;
  readonly wantsCitations?: boolean | undefined;
}
export interface CallPart extends PartBase {
  readonly kind: "call";
  /** Never empty: a reader mints one where its format has none (docs/design/translation.md 5.3). */
  readonly id: string;
  readonly name: string;
  /** A custom tool takes free text, a function a JSON object. */
  readonly tool: "function" | "custom";
  /** JSON text of a function's arguments as it came, or the free text of a custom tool. */
  readonly arguments: string;
  readonly states?: readonly CarriedState[] | undefined;
  /** The id is the provider's own (Google's ids may only go back to Google). */
  readonly isNativeId?: boolean | undefined;
}
export interface ResultPart extends PartBase {
  readonly kind: "result";
  readonly callId: string;
  /** Name of the tool, when the client's format gives it. */
  readonly name?: string | undefined;
  readonly content: readonly (TextPart | MediaPart)[];
  readonly isError?: boolean | undefined;
}
/** An item of a provider-run tool in the history (web search, code ...): encrypted for its own provider only. */
export interface HostedPart extends PartBase {
  readonly kind: "hosted";
  readonly type: string;
  /** This gateway wrote it, to show what the upstream's tool did: the provider's own record is sealed elsewhere. */
  readonly isShown?: boolean | undefined;
}

export type Part = TextPart | RefusalPart | ReasoningPart | MediaPart | CallPart | ResultPart | HostedPart;

export type MediaSource =
  /** Base64 without white space or prefix. */
  | { readonly type: "data"; readonly base64: string }
  | { readonly type: "url"; readonly url: string }
  /** Kept by a provider: only that one can read it. */
  | { readonly type: "file"; readonly owner: Vendor; readonly id: string }
  | { readonly type: "text"; readonly text: string };

/** Whose state or object something is. */
export type Vendor = "openai" | "anthropic" | "google";

/**
 * Opaque state of a provider in a client's history: either as that provider gave it (`native`) or in our envelope
 * (`sealed`, see `state/envelope.ts`). Never interpreted, never sent to another vendor.
 */
export type CarriedState =
  | { readonly type: "native"; readonly state: ProviderState }
  | { readonly type: "sealed"; readonly envelope: string };

/** State exactly as a provider gave it. */
export type ProviderState =
  /** Anthropic's signed thinking: the text is part of what is signed. */
  | { readonly kind: "thinking"; readonly text: string; readonly signature: string }
  | { readonly kind: "redacted-thinking"; readonly data: string }
  /** Google's `thoughtSignature` of a call or of a text. */
  | { readonly kind: "thought-signature"; readonly data: string }
  /** JSON text of a part that says what a tool of Google's did, its id and signature in it: goes back as it came. */
  | { readonly kind: "server-tool-part"; readonly data: string }
  /** Typed lists of thinking that chat completions servers send, signatures and encrypted data among it. */
  | {
      readonly kind: "reasoning-details";
      readonly member: "reasoning_details" | "thinking_blocks";
      readonly entries: readonly JsonObject[];
    }
  /** Thinking that a chat completions server sent as plain text, under the member in which it wants it back. */
  | { readonly kind: "reasoning-text"; readonly member: "reasoning_content" | "reasoning"; readonly text: string }
  /** OpenAI's reasoning item. */
  | {
      readonly kind: "encrypted-reasoning";
      readonly id: string;
      readonly data: string;
      readonly summary: readonly string[];
    };

export type Tool = FunctionTool | CustomTool | HostedTool;
export interface FunctionTool {
  readonly kind: "function";
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of the arguments. */
  readonly schema?: JsonObject | undefined;
  readonly strict?: boolean | undefined;
  /** Where the client said so, if not beside the tool. */
  readonly strictWhere?: string | undefined;
  readonly cache?: CacheHint | undefined;
  readonly where?: string | undefined;
}
export interface CustomTool {
  readonly kind: "custom";
  readonly name: string;
  readonly description?: string | undefined;
  /** `format` of the tool as OpenAI spells it: text or grammar. */
  readonly format?: JsonObject | undefined;
  readonly where?: string | undefined;
}
/** A tool that the provider runs itself. */
export interface HostedTool {
  readonly kind: "hosted";
  readonly tool:
    | "web-search"
    | "code"
    | "web-fetch"
    | "file-search"
    | "mcp"
    | "image-generation"
    | "computer"
    | "other";
  /** Its type as the client wrote it. */
  readonly type: string;
  readonly where?: string | undefined;
  /** Members that several formats share for a web search. */
  readonly search?:
    | {
        readonly allowedDomains?: readonly string[] | undefined;
        readonly blockedDomains?: readonly string[] | undefined;
        readonly maxUses?: number | undefined;
        readonly contextSize?: string | undefined;
        /** `{city, region, country, timezone}`. */
        readonly userLocation?: Readonly<Record<string, string>> | undefined;
      }
    | undefined;
}

export type ToolChoice =
  | {
      readonly type: "auto" | "none" | "required" /** Only these tools. */;
      readonly only?: readonly string[] | undefined;
    }
  | { readonly type: "named"; readonly name: string };

export interface Sampling {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly seed?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  readonly candidates?: number | undefined;
  readonly logitBias?: Readonly<Record<string, number>> | undefined;
  readonly logprobs?: boolean | undefined;
  readonly topLogprobs?: number | undefined;
}

export type Effort = "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

export interface ReasoningOptions {
  readonly mode: "off" | "auto" | "on";
  readonly effort?: Effort | undefined;
  /** Thinking tokens. */
  readonly budget?: number | undefined;
  /** Whether the client's response may show reasoning text. */
  readonly show?: boolean | undefined;
  /** Anthropic-style clients only: `thinking` is on, so thinking blocks may be sent and come back. */
  readonly carriesBlocks?: boolean | undefined;
  /** OpenAI's `summary`: auto, concise, detailed. */
  readonly summary?: string | undefined;
}

export type OutputFormat =
  | { readonly kind: "json" }
  | {
      readonly kind: "schema";
      readonly name?: string | undefined;
      readonly schema: JsonObject;
      readonly strict?: boolean | undefined;
      readonly description?: string | undefined;
      /** Path of what describes it in the client's body. */
      readonly where?: string | undefined;
    }
  /** Google's `text/x.enum`: one of these words, bare. */
  | { readonly kind: "enum"; readonly values: readonly string[] };
