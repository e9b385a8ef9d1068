/**
 * The specs of the four kinds by field name (RESOURCES.md); what the compiler reads after a manifest was validated.
 *
 * Every object that reaches the compiler has passed the CRD's own schema, so bounds, enums and exclusive members hold.
 */
import type { Capability, JsonMember, WireFormat } from "../../proxy/snapshot/types.gen.ts";

export interface SecretKeyRef {
  readonly name: string;
  readonly key?: string;
}

export interface LimitSpec {
  readonly name: string;
  readonly unit: "Requests" | "Tokens" | "InputTokens" | "OutputTokens" | "Cost";
  readonly limit: string;
  readonly period: "Second" | "Minute" | "Hour" | "Day" | "Week" | "Month" | "Lifetime";
  readonly timeZone?: string;
  readonly algorithm?: "FixedWindow" | "TokenBucket";
  readonly burst?: number;
  readonly mode?: "Enforce" | "Shadow";
  readonly models?: readonly string[];
}

export interface KeyCredentialSpec {
  readonly name: string;
  readonly secretKeyRef?: SecretKeyRef;
  readonly sha256?: string;
  readonly generate?: { readonly secretName: string; readonly prefix?: string };
  readonly notBefore?: string;
  readonly notAfter?: string;
}

export interface ApiKeySpec {
  readonly displayName?: string;
  readonly state?: "Active" | "Suspended";
  readonly expiresAt?: string;
  readonly accountRef?: { readonly name: string };
  readonly credentials: readonly KeyCredentialSpec[];
  readonly models?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] };
  readonly protocols?: readonly ("OpenAI" | "Anthropic" | "Gemini")[];
  readonly capabilities?: readonly Capability[];
  readonly clientCIDRs?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] };
  readonly limits?: readonly LimitSpec[];
  readonly concurrency?: { readonly maxInFlight?: number };
  readonly metadata?: { readonly [name: string]: string };
}

export interface LabelSelector {
  readonly matchLabels?: { readonly [name: string]: string };
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
    readonly values?: readonly string[];
  }[];
}

export interface NamespacesFrom {
  readonly from?: "Same" | "All" | "Selector";
  readonly selector?: LabelSelector;
}

export interface TimeoutsSpec {
  readonly connect?: string;
  readonly firstByte?: string;
  readonly streamIdle?: string;
  readonly total?: string;
}

export interface BodyRulesSpec {
  readonly default?: readonly JsonMember[];
  readonly set?: readonly JsonMember[];
  readonly remove?: readonly string[];
}

export type Provider =
  | "OpenAI"
  | "Anthropic"
  | "Gemini"
  | "AzureOpenAI"
  | "Bedrock"
  | "VertexAI"
  | "Cohere"
  | "OpenAICompatible"
  | "AnthropicCompatible"
  | "GeminiCompatible";

export interface UpstreamCredentialSpec {
  readonly name: string;
  readonly secretKeyRef: SecretKeyRef;
  readonly weight?: number;
  readonly state?: "Active" | "Draining" | "Disabled";
}

export interface ChannelSpec {
  readonly provider: Provider;
  readonly preset?: string;
  readonly baseURL?: string;
  readonly upstreamObjects?: "Refuse" | "Shared";
  readonly azure?: { readonly apiVersion?: string };
  readonly formats?: readonly {
    readonly type: WireFormat;
    readonly path?: string;
    readonly paths?: readonly string[];
  }[];
  readonly credentials?: readonly UpstreamCredentialSpec[];
  readonly auth?: {
    readonly location?: { readonly header?: string; readonly query?: string };
    readonly scheme?: "Bearer" | "Raw";
  };
  readonly models?: readonly {
    readonly name: string;
    readonly upstreamName?: string;
    readonly capabilities?: readonly Capability[];
  }[];
  readonly headers?: {
    readonly set?: readonly { readonly name: string; readonly value: string }[];
    readonly remove?: readonly string[];
  };
  readonly body?: BodyRulesSpec;
  readonly privacy?: {
    readonly store?: "PassThrough" | "ForceFalse";
    readonly safetyIdentifier?: "Strip" | "Forward";
    readonly streamObfuscation?: "Strip" | "Forward";
    readonly clientMetadata?: "Forward" | "Strip";
  };
  readonly unsupportedParameters?: "Ignore" | "Reject";
  readonly timeouts?: TimeoutsSpec;
  readonly limits?: readonly LimitSpec[];
  readonly concurrency?: { readonly maxInFlight?: number };
  readonly tls?: {
    readonly caBundleRef?: { readonly kind?: "ConfigMap"; readonly name: string; readonly key?: string };
    readonly serverName?: string;
    readonly clientCertificateRef?: { readonly name: string };
  };
  readonly proxyURL?: string;
  readonly allowedNamespaces?: NamespacesFrom;
  readonly state?: "Active" | "Draining" | "Disabled";
}

export type FailoverReason =
  | "ConnectFailure"
  | "Timeout"
  | "RateLimited"
  | "ServerError"
  | "CredentialRejected"
  | "PaymentRequired"
  | "ModelNotFound"
  | "ContextTooLong";

export interface TargetSpec {
  readonly name: string;
  readonly channelRef?: { readonly name: string; readonly namespace?: string };
  readonly modelRef?: { readonly name: string };
  readonly upstreamModel?: string;
  readonly priority?: number;
  readonly weight?: number;
  readonly parameters?: BodyRulesSpec;
}

export interface PriceSpec {
  readonly unit?: "Credit";
  readonly inputPerMillion?: string;
  readonly cachedInputPerMillion?: string;
  readonly cacheWritePerMillion?: string;
  readonly cacheWrite1hPerMillion?: string;
  readonly outputPerMillion?: string;
  readonly reasoningPerMillion?: string;
  readonly audioInputPerMillion?: string;
  readonly audioOutputPerMillion?: string;
  readonly imageInputPerMillion?: string;
  readonly imageOutputPerMillion?: string;
  readonly perRequest?: string;
  readonly perImage?: readonly { readonly size?: string; readonly quality?: string; readonly price: string }[];
  readonly perMinuteAudio?: string;
  readonly perMillionCharacters?: string;
  readonly perSearch?: string;
}

export interface ModelRouteSpec {
  readonly model?: string;
  readonly aliases?: readonly string[];
  readonly visibility?: "Listed" | "Unlisted" | "Internal";
  readonly info?: {
    readonly ownedBy?: string;
    readonly createdAt?: string;
    readonly displayName?: string;
    readonly contextWindow?: number;
    readonly maxOutputTokens?: number;
  };
  readonly capabilities?: readonly Capability[];
  readonly targets: readonly TargetSpec[];
  readonly strategy?: "Weighted" | "LeastInFlight" | "LowestLatency" | "CacheAffinity";
  readonly failover?: {
    readonly maxAttempts?: number;
    readonly on?: readonly FailoverReason[];
    readonly statuses?: readonly number[];
    readonly withinFirst?: string;
    readonly backoff?: { readonly base?: string; readonly max?: string };
    readonly retryAfter?: "Honor" | "Ignore";
  };
  readonly timeouts?: TimeoutsSpec;
  readonly keySelector?: LabelSelector & { readonly namespaces?: NamespacesFrom };
  readonly limits?: readonly LimitSpec[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly minimum?: string;
    readonly maximum?: string;
    readonly allowed?: readonly string[];
    readonly support?: "Supported" | "Unsupported";
  }[];
  readonly price?: PriceSpec;
}

export interface AccountSpec {
  readonly displayName?: string;
  readonly state?: "Active" | "Suspended";
  readonly credit?: string;
  readonly overdraft?: string;
  readonly currency?: string;
  readonly limits?: readonly LimitSpec[];
  readonly defaultKeyLimits?: readonly LimitSpec[];
}
