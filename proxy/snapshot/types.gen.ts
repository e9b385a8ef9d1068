/** Generated from schema.json, crds/*.yaml and cli/settings.schema.json by `npm run generate`; do not edit. */

/**
 * One object of the compiled configuration, as the operator pushes it and the proxy enforces it. Times are milliseconds since the epoch; amounts are decimal integers as strings (credits in nano-credits, prices in micro-credits per unit or per million).
 */
export type WireObject = (Key | Account | Channel | Credential | Route | Fleet)
export type Name = string
/**
 * Milliseconds since the epoch.
 */
export type Timestamp = number
export type Labels = { [name: string]: string }
/**
 * Model patterns: exact, `prefix*`, `*suffix` or `*`.
 * 
 * @maxItems 256
 */
export type Patterns = string[]
export type Capability = ("Chat" | "Completion" | "CountTokens" | "Embeddings" | "Rerank" | "Speech" | "Transcription" | "Translation" | "ImageGeneration" | "ImageEdit" | "Moderation" | "Realtime" | "Models" | "Passthrough")
/**
 * @maxItems 8
 */
export type Limits = Limit[]
/**
 * A non-negative integer; below 2^63.
 */
export type Amount = string
export type WireFormat = ("ChatCompletions" | "Responses" | "Messages" | "GenerateContent" | "Completions" | "Embeddings" | "EmbedContent" | "Rerank" | "ImageGenerations" | "ImageEdits" | "ImageVariations" | "Predict" | "Speech" | "Transcriptions" | "Translations" | "Moderations" | "Realtime" | "CountTokens" | "Passthrough")
/**
 * Milliseconds; 0 switches the timeout off.
 */
export type DurationMs = number

export interface Key {
kind: "key"
namespace: Name
name: Name
state: ("Active" | "Suspended")
expiresAt?: Timestamp
/**
 * Name of the Account in the same namespace.
 */
account?: string
labels?: Labels
/**
 * @maxItems 4
 */
credentials: KeyCredential[]
modelsAllow?: Patterns
modelsDeny?: Patterns
/**
 * @maxItems 64
 */
cidrsAllow?: string[]
/**
 * @maxItems 64
 */
cidrsDeny?: string[]
/**
 * @maxItems 3
 */
protocols?: ("OpenAI" | "Anthropic" | "Gemini")[]
/**
 * @maxItems 16
 */
capabilities?: Capability[]
limits?: Limits
maxInFlight?: number
metadata?: Labels
}
export interface KeyCredential {
name: Name
sha256: string
notBefore?: Timestamp
notAfter?: Timestamp
}
export interface Limit {
name: Name
unit: ("Requests" | "Tokens" | "InputTokens" | "OutputTokens" | "Cost")
/**
 * Count, or nano-credits for unit Cost.
 */
limit: string
period: ("Second" | "Minute" | "Hour" | "Day" | "Week" | "Month" | "Lifetime")
timeZone?: string
algorithm: ("FixedWindow" | "TokenBucket")
/**
 * Size of the bucket; `limit` when absent. TokenBucket only.
 */
burst?: string
mode: ("Enforce" | "Shadow")
/**
 * @maxItems 16
 */
models?: string[]
}
export interface Account {
kind: "account"
namespace: Name
name: Name
state: ("Active" | "Suspended")
/**
 * Cumulative credit granted; absent means unlimited.
 */
creditNanos?: string
overdraftNanos?: Amount
limits?: Limits
defaultKeyLimits?: Limits
}
export interface Channel {
kind: "channel"
namespace: Name
name: Name
state: ("Active" | "Draining" | "Disabled")
provider: ("OpenAI" | "Anthropic" | "Gemini" | "AzureOpenAI" | "Bedrock" | "VertexAI" | "Cohere" | "OpenAICompatible" | "AnthropicCompatible" | "GeminiCompatible")
/**
 * Whose deviations from other upstreams of the provider hold (proxy/providers); absent: nobody's.
 */
quirks?: ("Groq" | "Mistral")
/**
 * Origin and path prefix, without a trailing slash; a format's path is appended to it.
 */
baseURL: string
/**
 * @minItems 1
 * @maxItems 32
 */
formats: {
type: WireFormat
/**
 * Appended to baseURL. `{model}` stands for the percent-encoded upstream model, `{verb}` for generateContent, streamGenerateContent, embedContent or batchEmbedContents.
 */
path: string
/**
 * Whose shape of the format the upstream speaks; absent: OpenAI for Embeddings, Jina for Rerank.
 */
dialect?: ("OpenAI" | "Cohere" | "Voyage" | "Jina" | "TEI")
}[]
auth: {
location: ("Header" | "Query")
name: string
scheme: ("Bearer" | "Raw")
}
/**
 * @maxItems 32
 */
credentials: {
name: Name
weight: number
state: ("Active" | "Draining" | "Disabled")
}[]
/**
 * @maxItems 512
 */
models?: {
name: string
upstreamName?: string
/**
 * @maxItems 16
 */
capabilities?: Capability[]
traits?: {
like?: string
maxOutputTokens?: number
thinking?: ("None" | "Optional" | "Always")
forcedTools?: ("Accepted" | "Refused")
toolsWithThinking?: ("Accepted" | "Refused")
hostedToolsWithFunctions?: ("Accepted" | "Refused")
sampling?: ("Accepted" | "Refused")
}
}[]
/**
 * @maxItems 16
 */
headersSet?: {
name: string
value: string
}[]
/**
 * @maxItems 16
 */
headersRemove?: string[]
body?: BodyRules
privacy: {
store: ("PassThrough" | "ForceFalse")
safetyIdentifier: ("Strip" | "Forward")
streamObfuscation: ("Strip" | "Forward")
clientMetadata: ("Forward" | "Strip")
}
unsupportedParameters: ("Ignore" | "Reject")
upstreamObjects: ("Refuse" | "Shared")
timeouts: Timeouts
limits?: Limits
maxInFlight?: number
tls?: {
ca?: string
serverName?: string
certificate?: string
privateKey?: string
}
proxyURL?: string
}
export interface BodyRules {
/**
 * @maxItems 64
 */
default?: JsonMember[]
/**
 * @maxItems 64
 */
set?: JsonMember[]
/**
 * @maxItems 64
 */
remove?: string[]
}
export interface JsonMember {
field: string
value: unknown
}
export interface Timeouts {
connectMs?: DurationMs
firstByteMs?: DurationMs
streamIdleMs?: DurationMs
totalMs?: DurationMs
}
/**
 * The secret of one credential of a channel: apart from the channel, so that rotating it does not resend the channel.
 */
export interface Credential {
kind: "credential"
namespace: Name
channel: Name
name: Name
secret: string
}
export interface Route {
kind: "route"
namespace: Name
name: Name
/**
 * Public name; one `*` at an end makes it a pattern.
 */
model: string
/**
 * @maxItems 16
 */
aliases?: string[]
visibility: ("Listed" | "Unlisted" | "Internal")
info?: {
ownedBy?: string
createdAt?: Timestamp
displayName?: string
contextWindow?: number
maxOutputTokens?: number
}
/**
 * @maxItems 16
 */
capabilities: Capability[]
/**
 * Only targets whose channel is resolved and allowed; references to other routes are already flattened.
 * 
 * @maxItems 256
 */
targets: {
name: string
/**
 * `namespace/name`.
 */
channel: string
upstreamModel?: string
priority: number
weight: number
parameters?: BodyRules
}[]
strategy: ("Weighted" | "LeastInFlight" | "LowestLatency" | "CacheAffinity")
failover: {
maxAttempts: number
/**
 * @maxItems 8
 */
on: ("ConnectFailure" | "Timeout" | "RateLimited" | "ServerError" | "CredentialRejected" | "PaymentRequired" | "ModelNotFound" | "ContextTooLong")[]
/**
 * @maxItems 64
 */
statuses?: number[]
withinFirstMs: DurationMs
backoffBaseMs?: DurationMs
backoffMaxMs?: DurationMs
honorRetryAfter?: boolean
}
timeouts?: Timeouts
keySelector: {
/**
 * Namespaces whose keys may call this route; `*` for all.
 * 
 * @maxItems 10000
 */
namespaces: string[]
matchLabels?: Labels
/**
 * @maxItems 32
 */
matchExpressions?: SelectorRequirement[]
}
limits?: Limits
/**
 * Ranges that narrow docs/design/interface.md 8 for this model.
 * 
 * @maxItems 64
 */
parameters?: {
/**
 * Field as the interface spells it, for example `temperature` or `max_tokens`.
 */
name: string
minimum?: number
maximum?: number
/**
 * @maxItems 64
 */
allowed?: string[]
supported?: boolean
}[]
/**
 * Micro-credits (10^-6) per million of the class, per request, per image, per minute, per search; absent classes fall back.
 */
price?: {
input?: Amount
cachedInput?: Amount
cacheWrite?: Amount
cacheWrite1h?: Amount
output?: Amount
reasoning?: Amount
audioInput?: Amount
audioOutput?: Amount
imageInput?: Amount
imageOutput?: Amount
characters?: Amount
request?: Amount
audioMinute?: Amount
search?: Amount
/**
 * @maxItems 64
 */
images?: {
size?: string
quality?: string
price: Amount
}[]
}
}
export interface SelectorRequirement {
key: string
operator: ("In" | "NotIn" | "Exists" | "DoesNotExist")
/**
 * @maxItems 64
 */
values?: string[]
}
/**
 * Settings of the fleet that every proxy enforces alike (`setting/fleet`).
 */
export interface Fleet {
kind: "fleet"
name: "fleet"
requireAccount: boolean
unboundedOutput: ("Reserve" | "Cap")
inputEstimate: ("Estimate" | "Upper")
defaultOutputReserve: number
revocation: ("Finish" | "Immediate")
/**
 * @maxItems 256
 */
egressAllowCIDRs: string[]
}
