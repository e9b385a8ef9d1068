/**
 * Generated from crds/*.yaml by `npm run generate`; do not edit.
 *
 * The types of objects after validation: fields with a default are always there.
 */

/**
 * Any of the custom resources.
 */
export type Resource = (Account | ApiKey | Channel | ModelRoute)
/**
 * One protocol.
 */
export type Protocol = ("OpenAI" | "Anthropic" | "Gemini")
/**
 * One capability. Chat means all four chat formats.
 */
export type Capability = ("Chat" | "Completion" | "CountTokens" | "Embeddings" | "Rerank" | "Speech" | "Transcription" | "Translation" | "ImageGeneration" | "ImageEdit" | "Moderation" | "Realtime" | "Models" | "Passthrough")
/**
 * What the gateway treats the upstream as. That of the preset when absent; one of both is given.
 */
export type Provider = ("OpenAI" | "Anthropic" | "Gemini" | "AzureOpenAI" | "Bedrock" | "VertexAI" | "Cohere" | "OpenAICompatible" | "AnthropicCompatible" | "GeminiCompatible")
/**
 * Provider, vendor or server that brings the defaults of baseURL, auth and formats. The provider's own when absent. Fields of this spec take precedence.
 */
export type PresetName = ("anthropic" | "anthropic-compatible" | "azure-openai" | "azure-openai-v1" | "cerebras" | "cohere" | "deepseek" | "deepseek-anthropic" | "fireworks" | "gemini" | "gemini-compatible" | "groq" | "jina" | "mistral" | "ollama" | "openai" | "openai-compatible" | "openrouter" | "perplexity" | "siliconflow" | "tei" | "together" | "vllm" | "voyage" | "xai")
/**
 * Which format.
 */
export type WireFormat = ("ChatCompletions" | "Responses" | "Messages" | "GenerateContent" | "Completions" | "Embeddings" | "EmbedContent" | "Rerank" | "ImageGenerations" | "ImageEdits" | "ImageVariations" | "Predict" | "Speech" | "Transcriptions" | "Translations" | "Moderations" | "Realtime" | "CountTokens" | "Passthrough")

/**
 * A balance and limits that several keys of one namespace share.
 */
export interface Account {
apiVersion: "tollgate.dev/v1alpha1"
kind: "Account"
metadata: ObjectMetadata
/**
 * Credit and limits of the account.
 */
spec: AccountSpec
/**
 * State of the account as the operator observes it. Written by the operator only.
 */
status?: AccountStatus
}
/**
 * Name and place of an object, and what Kubernetes (or the folder source) knows about it.
 */
export interface ObjectMetadata {
name: string
namespace: string
uid?: string
resourceVersion?: string
generation?: number
creationTimestamp?: string
deletionTimestamp?: string
labels?: { [key: string]: string }
annotations?: { [key: string]: string }
}
/**
 * Credit and limits of the account.
 */
export interface AccountSpec {
/**
 * Name for people who read the object. Logs, lists and metrics name the object itself.
 */
displayName?: string
/**
 * Suspended refuses the calls of all its keys.
 */
state: ("Active" | "Suspended")
/**
 * Cumulative credit granted so far. Top up by raising the number: consumption is counted elsewhere and never enters a spec. Unlimited when absent. A decimal of at most 15 digits, optionally with k, M or G.
 */
credit?: string
/**
 * Credit that may be used beyond the granted one. A decimal of at most 15 digits, optionally with k, M or G.
 */
overdraft: string
/**
 * Meaning of a credit, for people who read the object. It converts nothing and is shown nowhere else.
 */
currency?: string
/**
 * Limits that all keys of the account share.
 * 
 * Items: One limit, counted by its own counter.
 */
limits?: Limit[]
/**
 * Limits of each key that has none of its own, counted per key.
 * 
 * Items: One limit, counted by its own counter.
 */
defaultKeyLimits?: Limit[]
}
/**
 * One limit, counted by its own counter.
 */
export interface Limit {
/**
 * Name of the limit, unique in its list. The counter belongs to it: renaming starts a new one.
 */
name: string
/**
 * Unit of the limit. Tokens is input plus output; Cost is credits.
 */
unit: ("Requests" | "Tokens" | "InputTokens" | "OutputTokens" | "Cost")
/**
 * How much a period allows. A whole number, except for unit Cost, which takes up to six decimals and at most 9G credits. A decimal of at most 15 digits, optionally with k, M or G.
 */
limit: string
/**
 * Length of a period. Day, Week and Month follow the calendar of timeZone; Lifetime never resets, which makes the limit a quota ceiling.
 */
period: ("Second" | "Minute" | "Hour" | "Day" | "Week" | "Month" | "Lifetime")
/**
 * IANA name of the time zone whose calendar starts the periods, for example Europe/Berlin. Only for Day, Week and Month. UTC when absent.
 */
timeZone?: string
/**
 * How a rate is counted. TokenBucket refills evenly and only fits Second, Minute and Hour, where it is used when absent; FixedWindow starts over at each period and is used for every longer one. A FixedWindow below Day is aligned to the epoch.
 */
algorithm?: ("FixedWindow" | "TokenBucket")
/**
 * Size of the bucket of a TokenBucket: how much may come at once. The limit itself when absent.
 */
burst?: number
/**
 * Enforce refuses calls beyond the limit; Shadow only counts and reports them.
 */
mode: ("Enforce" | "Shadow")
/**
 * Public model names that this limit counts; every model when absent. Overlapping limits must all hold.
 * 
 * Items: A model name, or a pattern with one `*` at its beginning or its end, or `*` for every model.
 */
models?: string[]
}
/**
 * State of the account as the operator observes it. Written by the operator only.
 */
export interface AccountStatus {
/**
 * Generation that this status speaks about.
 */
observedGeneration?: number
/**
 * Accepted, Programmed and Funded.
 * 
 * Items: One condition, as the Kubernetes API conventions define it.
 */
conditions?: Condition[]
/**
 * Balance, refreshed at most once a minute.
 */
balance?: {
/**
 * Credit granted.
 */
granted?: string
/**
 * Credit used.
 */
consumed?: string
/**
 * Credit reserved by calls in flight.
 */
reserved?: string
/**
 * When this was read.
 */
observedAt?: string
}
/**
 * Number of keys of the account.
 */
keys?: number
}
/**
 * One condition, as the Kubernetes API conventions define it.
 */
export interface Condition {
/**
 * Which condition.
 */
type: string
/**
 * Whether it holds.
 */
status: ("True" | "False" | "Unknown")
/**
 * Generation of the object that this condition speaks about.
 */
observedGeneration?: number
/**
 * When status changed last.
 */
lastTransitionTime: string
/**
 * Why, in one word that programs may compare.
 */
reason: string
/**
 * Why, for people, with what to do.
 */
message: string
}
/**
 * A client of the gateway: its secrets, its restrictions and its limits.
 */
export interface ApiKey {
apiVersion: "tollgate.dev/v1alpha1"
kind: "ApiKey"
metadata: ObjectMetadata
/**
 * Rights and limits of the key.
 */
spec: ApiKeySpec
/**
 * State of the key as the operator observes it. Written by the operator only.
 */
status?: ApiKeyStatus
}
/**
 * Rights and limits of the key.
 */
export interface ApiKeySpec {
/**
 * Name for people who read the object. Logs, lists and metrics name the object itself.
 */
displayName?: string
/**
 * Suspended refuses every call with 401 without deleting anything.
 */
state: ("Active" | "Suspended")
/**
 * The key is refused with 401 after this time; every proxy decides by its own clock.
 */
expiresAt?: string
/**
 * The Account of the same namespace whose balance and limits this key shares. Cannot be changed later. Without it the key spends without bound but for its own limits.
 */
accountRef?: {
/**
 * Name of the Account.
 */
name: string
}
/**
 * Secrets of this key, all valid at the same time within their own times.
 * 
 * Items: One secret of the key, given in exactly one of three ways: by a Secret, by its digest, or made by the operator.
 */
credentials: ApiKeyCredential[]
/**
 * Which public models the key may use; a refused one is 403 and absent from the model lists. Absent: all that routes open to it.
 */
models?: {
/**
 * Only these models. All when absent.
 * 
 * Items: A model name, or a pattern with one `*` at its beginning or its end, or `*` for every model.
 */
allow?: string[]
/**
 * Never these models, even if allow has them.
 * 
 * Items: A model name, or a pattern with one `*` at its beginning or its end, or `*` for every model.
 */
deny?: string[]
}
/**
 * Protocols the key may speak. All when absent.
 * 
 * Items: One protocol.
 */
protocols?: Protocol[]
/**
 * Capabilities that the key may use. All when absent.
 * 
 * Items: One capability. Chat means all four chat formats.
 */
capabilities?: Capability[]
/**
 * Addresses that callers may come from; others are refused with 403. The gateway's setting of trusted proxies decides what a caller's address is.
 */
clientCIDRs?: {
/**
 * Only these networks. All when absent.
 * 
 * Items: A network such as 10.0.0.0/8 or 2001:db8::/32.
 */
allow?: string[]
/**
 * Never these networks, even if allow has them.
 * 
 * Items: A network such as 10.0.0.0/8 or 2001:db8::/32.
 */
deny?: string[]
}
/**
 * Limits of this key alone. All must hold, together with those of its Account and of the route. Without any, the Account's defaultKeyLimits apply.
 * 
 * Items: One limit, counted by its own counter.
 */
limits?: Limit[]
/**
 * How many calls may run at once.
 */
concurrency?: {
/**
 * Calls in flight at once; further ones get a rate limit error. Where every proxy counts for itself, at each of them.
 */
maxInFlight: number
}
/**
 * Free text copied to the access log, for example a team or a cost centre. Never secrets.
 */
metadata?: { [key: string]: string }
}
/**
 * One secret of the key, given in exactly one of three ways: by a Secret, by its digest, or made by the operator.
 */
export interface ApiKeyCredential {
/**
 * Name of the credential, unique in the key; for example current and next.
 */
name: string
/**
 * A Secret of the same namespace that holds the key. The operator reads it, hashes it and passes on only the digest. The key must begin with sk- and have at least 20 further letters, digits, _ or -.
 */
secretKeyRef?: {
/**
 * Name of the Secret.
 */
name: string
/**
 * Entry of the Secret that holds the key.
 */
key: string
}
/**
 * SHA-256 digest of the whole key as 64 lower-case hexadecimal digits; `tollgate key` prints one. The key itself never enters the cluster.
 */
sha256?: string
/**
 * Lets the operator make a 256-bit key and write it once to a Secret that it owns; it never overwrites one.
 */
generate?: {
/**
 * Name of the Secret to create, with the key under apiKey. Cannot be changed later.
 */
secretName: string
/**
 * Beginning of the key.
 */
prefix: string
}
/**
 * The credential is refused with 401 before this time.
 */
notBefore?: string
/**
 * The credential is refused with 401 after this time. Two live credentials make a rotation without downtime.
 */
notAfter?: string
}
/**
 * State of the key as the operator observes it. Written by the operator only.
 */
export interface ApiKeyStatus {
/**
 * Generation that this status speaks about.
 */
observedGeneration?: number
/**
 * Accepted, ResolvedRefs, Programmed and Active.
 * 
 * Items: One condition, as the Kubernetes API conventions define it.
 */
conditions?: Condition[]
/**
 * State of each credential; never the secret itself.
 * 
 * Items: One credential.
 */
credentials?: {
/**
 * Name of the credential in spec.
 */
name: string
/**
 * First twelve hexadecimal digits of the digest.
 */
fingerprint?: string
/**
 * Beginning of the key for people to recognise it by, for example sk-ab12….
 */
displayPrefix?: string
/**
 * Version of the Secret that every ready proxy serves.
 */
secretResourceVersion?: string
/**
 * Whether a call with this credential is accepted now; Pending until every ready proxy acknowledged it.
 */
active?: ("True" | "False" | "Pending")
/**
 * Why, in one word.
 */
reason?: string
}[]
/**
 * Use of each quota, refreshed at most once a minute. kubectl get -o wide shows the first.
 * 
 * Items: One limit.
 */
usage?: {
/**
 * Name of the limit in spec, or of the Account's template.
 */
name: string
/**
 * Amount used in the current period.
 */
used?: string
/**
 * Amount that the period allows.
 */
limit?: string
/**
 * When the period ends.
 */
resetAt?: string
/**
 * When this was read.
 */
observedAt?: string
}[]
/**
 * Last accepted call, rounded to the hour.
 */
lastUsedTime?: string
}
/**
 * One upstream account or endpoint: where it is, how to authenticate, what it speaks and what it may be asked.
 */
export interface Channel {
apiVersion: "tollgate.dev/v1alpha1"
kind: "Channel"
metadata: ObjectMetadata
/**
 * How to reach and use the upstream.
 */
spec: ChannelSpec
/**
 * State of the channel as the operator observes it. Written by the operator only.
 */
status?: ChannelStatus
}
/**
 * How to reach and use the upstream.
 */
export interface ChannelSpec {
/**
 * What the gateway treats the upstream as. That of the preset when absent; one of both is given.
 */
provider?: Provider
/**
 * Provider, vendor or server that brings the defaults of baseURL, auth and formats. The provider's own when absent. Fields of this spec take precedence.
 */
preset?: PresetName
/**
 * Address of the upstream: http or https, host, optional port and path. The provider's own when absent. Private addresses need the fleet setting egress.allowCIDRs; link-local and metadata addresses are never used.
 */
baseURL?: string
/**
 * Draining finishes what runs and takes nothing new; Disabled takes nothing.
 */
state: ("Active" | "Draining" | "Disabled")
/**
 * References to objects that the upstream account holds (files, conversations, caches, containers). Refuse refuses them with a parameter error, because another tenant of the account could own them; Shared passes them.
 */
upstreamObjects: ("Refuse" | "Shared")
/**
 * Settings of provider AzureOpenAI, and of preset azure-openai.
 */
azure?: {
/**
 * Value of api-version, for example 2024-10-21 or v1.
 */
apiVersion: string
}
/**
 * Settings of provider Bedrock.
 */
bedrock?: {
/**
 * Region of the account, for example eu-central-1.
 */
region: string
}
/**
 * Settings of provider VertexAI.
 */
vertexAI?: {
/**
 * Project that is billed.
 */
project: string
/**
 * Region of the endpoint, for example europe-west4 or global.
 */
region: string
}
/**
 * Wire formats that the upstream speaks natively; the router prefers a native one and converts otherwise. The provider's own when absent.
 * 
 * Items: One wire format.
 */
formats?: ChannelFormat[]
/**
 * Pool of upstream keys with a health of its own each. None for an upstream that asks for none.
 * 
 * Items: One upstream key.
 */
credentials?: ChannelCredential[]
/**
 * Where the upstream expects its key. The provider's own way when absent.
 */
auth?: {
/**
 * Exactly one of a header and a query parameter.
 */
location: {
/**
 * Name of the header. None that frames a message or belongs to one connection, such as Host.
 */
header?: string
/**
 * Name of the query parameter.
 */
query?: string
}
/**
 * Bearer writes the word Bearer before the key; Raw writes the key alone.
 */
scheme: ("Bearer" | "Raw")
}
/**
 * Names of models at the upstream, by public name. A model that no entry fits keeps its name; this restricts nothing.
 * 
 * Items: One model.
 */
models?: ChannelModel[]
/**
 * Request headers towards the upstream.
 */
headers?: {
/**
 * Headers set whatever the caller sent.
 * 
 * Items: One header.
 */
set?: {
/**
 * Name of the header.
 */
name: string
/**
 * Value of the header. Never a secret.
 */
value: string
}[]
/**
 * Names of headers removed.
 * 
 * Items: Name of a header.
 */
remove?: string[]
}
/**
 * Changes to the top-level members of request bodies, in the order remove, default, set.
 */
body?: BodyRules
/**
 * What callers' fields the upstream gets to see.
 */
privacy: {
/**
 * PassThrough sends the caller's store; ForceFalse always sends false.
 */
store: ("PassThrough" | "ForceFalse")
/**
 * safety_identifier may identify users, so it is stripped unless this is Forward.
 */
safetyIdentifier: ("Strip" | "Forward")
/**
 * stream_options.include_obfuscation is stripped unless this is Forward.
 */
streamObfuscation: ("Strip" | "Forward")
/**
 * Whether the caller's metadata is passed on.
 */
clientMetadata: ("Forward" | "Strip")
}
/**
 * Treatment of a field that the upstream does not support: it is left out, or refused with a parameter error.
 */
unsupportedParameters: ("Ignore" | "Reject")
/**
 * Waits towards this upstream; the narrower of these and the route's counts.
 */
timeouts?: Timeouts
/**
 * The upstream's own limits. A full channel is skipped before the upstream replies 429; no client is refused for it alone.
 * 
 * Items: One limit, counted by its own counter.
 */
limits?: Limit[]
/**
 * How many calls the upstream gets at once.
 */
concurrency?: {
/**
 * Calls in flight at once from one proxy.
 */
maxInFlight?: number
/**
 * Calls that may wait for a place; 0, the default, lets none wait. Not there yet: none waits.
 */
maxQueue?: number
/**
 * Longest wait for a place.
 */
queueTimeout?: string
}
/**
 * When a credential of this channel is left out and how it comes back.
 */
health?: {
/**
 * By the outcome of real calls. Not there yet: no credential is left out.
 */
passive?: {
/**
 * Failures in a row that eject a credential; 5 when absent.
 */
consecutiveFailures?: number
/**
 * Statuses that count as failures; 500, 502, 503, 504 and 529 when absent.
 * 
 * Items: One HTTP status.
 */
failureStatuses?: number[]
/**
 * First ejection; each further one doubles. 10s when absent.
 */
baseEjection?: string
/**
 * Longest ejection. 5m when absent.
 */
maxEjection?: string
/**
 * Share of its usual calls that a returning credential gets first; 20 when absent.
 */
restoreTrafficPercent?: number
}
/**
 * By probes. Off when absent. Not there yet: none is sent.
 */
active?: {
/**
 * Time between two probes.
 */
interval: string
/**
 * Longest wait for a probe's reply.
 */
timeout: string
/**
 * Path below baseURL that is fetched.
 */
path?: string
/**
 * Model that is asked for one token.
 */
probeModel?: string
}
}
/**
 * How the upstream's certificate is checked and which one is shown to it. System roots when absent.
 */
tls?: {
/**
 * Certificate authorities to trust instead of the system's.
 */
caBundleRef?: {
/**
 * Kind of object that holds the bundle.
 */
kind: "ConfigMap"
/**
 * Name of the object, in the same namespace.
 */
name: string
/**
 * Entry that holds the PEM bundle.
 */
key: string
}
/**
 * Name to expect in the certificate; the host of baseURL when absent.
 */
serverName?: string
/**
 * A Secret of type kubernetes.io/tls of the same namespace, shown to the upstream.
 */
clientCertificateRef?: {
/**
 * Name of the Secret; its entries are tls.crt and tls.key.
 */
name: string
}
}
/**
 * HTTP proxy that calls go through with CONNECT.
 */
proxyURL?: string
/**
 * Whose model routes may use this channel.
 */
allowedNamespaces: AllowedNamespaces
}
/**
 * One wire format.
 */
export interface ChannelFormat {
/**
 * Which format.
 */
type: WireFormat
/**
 * Path below baseURL, where it differs from the format's usual one. {model} is replaced by the upstream model, {verb} by generateContent, streamGenerateContent, embedContent or batchEmbedContents.
 */
path?: string
/**
 * Whose shape of the format the upstream speaks, where vendors differ; that of the preset or provider when absent, else OpenAI for Embeddings and Jina for Rerank. Only for these two formats, and OpenAI has no Rerank.
 */
dialect?: ("OpenAI" | "Cohere" | "Voyage" | "Jina" | "TEI")
/**
 * Paths below baseURL to which calls are passed on as they are: a ModelRoute with the capability Passthrough opens them to its keys. A name in braces, as in /files/{id}, stands for one piece of letters, digits, dots, underscores, hyphens and tildes. Only for Passthrough, where it is required.
 * 
 * Items: One path.
 */
paths?: string[]
}
/**
 * One upstream key.
 */
export interface ChannelCredential {
/**
 * Name of the credential, unique in the channel.
 */
name: string
/**
 * A Secret of the same namespace that holds the upstream key.
 */
secretKeyRef: {
/**
 * Name of the Secret.
 */
name: string
/**
 * Entry of the Secret that holds the key.
 */
key: string
}
/**
 * Share of the calls among the usable credentials; 0 keeps it for when no other is usable.
 */
weight: number
/**
 * Draining finishes what runs and takes nothing new; Disabled is not used.
 */
state: ("Active" | "Draining" | "Disabled")
}
/**
 * One model.
 */
export interface ChannelModel {
/**
 * Public name, prefix* or *.
 */
name: string
/**
 * Name at the upstream; the public one when absent.
 */
upstreamName?: string
/**
 * What the model can do here; a call of another capability does not come to this channel. All that the route allows when absent.
 * 
 * Items: One capability. Chat means all four chat formats.
 */
capabilities?: Capability[]
/**
 * Traits of a model whose name the gateway does not know, such as a deployment or a model of one's own. Used only when calls are converted to another format; an absent trait follows from the name of the model.
 */
traits?: {
/**
 * Name of a model that the gateway knows, for example claude-opus-5-5 or gpt-5.4; this model is treated like it. The other traits here take precedence over those of that model.
 */
like?: string
/**
 * Most output tokens of one reply. A caller that asks for more gets this, and x-tollgate-dropped names the field.
 */
maxOutputTokens?: number
/**
 * None does not think; Optional thinks unless told not to; Always is asked to think little where a caller wants no thinking.
 */
thinking?: ("None" | "Optional" | "Always")
/**
 * Whether a tool call can be forced. Refused leaves the choice to the model, and x-tollgate-dropped names the field.
 */
forcedTools?: ("Accepted" | "Refused")
/**
 * Whether chat completions take functions while the model thinks. Refused speaks Responses where the channel has that format, and else asks for no thinking.
 */
toolsWithThinking?: ("Accepted" | "Refused")
/**
 * Whether generateContent takes tools that the provider runs, such as its web search, beside functions. Refused leaves them out, and x-tollgate-dropped names them.
 */
hostedToolsWithFunctions?: ("Accepted" | "Refused")
/**
 * Whether temperature, top-p and top-k can be set. Refused leaves them out, and x-tollgate-dropped names them.
 */
sampling?: ("Accepted" | "Refused")
}
}
/**
 * Changes to the top-level members of request bodies, in the order remove, default, set.
 */
export interface BodyRules {
/**
 * Members added where the caller sent none.
 * 
 * Items: One top-level member of the request body.
 */
default?: {
/**
 * Name of the member, in quotes where YAML reads it as a boolean (n, y, on). model and stream belong to the gateway.
 */
field: string
/**
 * Any JSON value. For null use kubectl apply --server-side: the client side drops nulls.
 */
value: unknown
}[]
/**
 * Members set whatever the caller sent.
 * 
 * Items: One top-level member of the request body.
 */
set?: {
/**
 * Name of the member, in quotes where YAML reads it as a boolean (n, y, on). model and stream belong to the gateway.
 */
field: string
/**
 * Any JSON value. For null use kubectl apply --server-side: the client side drops nulls.
 */
value: unknown
}[]
/**
 * Names of members removed, in quotes where YAML reads them as booleans (n, y, on).
 * 
 * Items: Name of a top-level member, in quotes where YAML reads it as a boolean (n, y, on).
 */
remove?: string[]
}
/**
 * Waits towards this upstream; the narrower of these and the route's counts.
 */
export interface Timeouts {
/**
 * Until the upstream connection is open. 2s when absent; 0s switches it off.
 */
connect?: string
/**
 * Until the first byte of the reply. 600s without streaming and 120s with it when absent; 0s switches it off.
 */
firstByte?: string
/**
 * Longest silence inside a stream; any complete event, ping or comment counts as life. 300s when absent; 0s switches it off.
 */
streamIdle?: string
/**
 * Whole call including all attempts. 0s, the default, means none.
 */
total?: string
}
/**
 * Whose model routes may use this channel.
 */
export interface AllowedNamespaces {
/**
 * Same: model routes of this object's own namespace. All: of every namespace. Selector: of the namespaces whose labels fit selector.
 */
from: ("Same" | "All" | "Selector")
/**
 * Labels of the namespaces. Only with from: Selector.
 */
selector?: LabelSelector
}
/**
 * Labels of the namespaces. Only with from: Selector.
 */
export interface LabelSelector {
/**
 * Labels that must be there with exactly these values.
 */
matchLabels?: { [key: string]: string }
/**
 * Conditions on labels; all must hold.
 * 
 * Items: One condition on a label; all must hold.
 */
matchExpressions?: LabelSelectorRequirement[]
}
/**
 * One condition on a label; all must hold.
 */
export interface LabelSelectorRequirement {
/**
 * Key of the label.
 */
key: string
/**
 * In and NotIn compare with values; Exists and DoesNotExist only ask for the key.
 */
operator: ("In" | "NotIn" | "Exists" | "DoesNotExist")
/**
 * Values to compare with; required for In and NotIn, absent otherwise.
 * 
 * Items: One value of the label.
 */
values?: string[]
}
/**
 * State of the channel as the operator observes it. Written by the operator only.
 */
export interface ChannelStatus {
/**
 * Generation that this status speaks about.
 */
observedGeneration?: number
/**
 * Accepted, ResolvedRefs, Programmed and Healthy.
 * 
 * Items: One condition, as the Kubernetes API conventions define it.
 */
conditions?: Condition[]
/**
 * State of each credential.
 * 
 * Items: One credential.
 */
credentials?: {
/**
 * Name of the credential in spec.
 */
name: string
/**
 * Whether its Secret was found and usable.
 */
resolved?: ("True" | "False" | "Unknown")
/**
 * Version of the Secret that every ready proxy serves.
 */
secretResourceVersion?: string
/**
 * Whether the proxies use it.
 */
healthy?: ("True" | "False" | "Unknown")
/**
 * Why, in one word.
 */
reason?: string
/**
 * Last failure that counted.
 */
lastFailureTime?: string
}[]
/**
 * Number of model mappings; absent where there are none, so that every model is accepted.
 */
modelCount?: number
/**
 * Number of model routes that use this channel.
 */
routes?: number
}
/**
 * One public model name: who may call it, which channels serve it, how they are chosen and what it costs.
 */
export interface ModelRoute {
apiVersion: "tollgate.dev/v1alpha1"
kind: "ModelRoute"
metadata: ObjectMetadata
/**
 * The model and where its calls go.
 */
spec: ModelRouteSpec
/**
 * State of the route as the operator observes it. Written by the operator only.
 */
status?: ModelRouteStatus
}
/**
 * The model and where its calls go.
 */
export interface ModelRouteSpec {
/**
 * Public name. One `*` at an end makes it a pattern, `*` alone matches every name that no other route has. The object's name when absent.
 */
model?: string
/**
 * Further exact names of the same model.
 * 
 * Items: One name.
 */
aliases?: string[]
/**
 * Listed appears in the model lists; Unlisted only serves calls; Internal is only reachable from another route's target, whose own limits, keySelector, parameters, price, timeouts and failover count.
 */
visibility: ("Listed" | "Unlisted" | "Internal")
/**
 * Facts about the model in the model lists.
 */
info?: {
/**
 * Owner of the model.
 */
ownedBy?: string
/**
 * When the model was made.
 */
createdAt?: string
/**
 * Name for people.
 */
displayName?: string
/**
 * Tokens that input and output may have together.
 */
contextWindow?: number
/**
 * Tokens that an output may have; also bounds what is reserved for a caller who sets no cap.
 */
maxOutputTokens?: number
}
/**
 * What the model can do; a call to another endpoint is a parameter error before any upstream is asked.
 * 
 * Items: One capability. Chat means all four chat formats.
 */
capabilities: Capability[]
/**
 * Where calls go.
 * 
 * Items: One target: a channel, or another route.
 */
targets: ModelRouteTarget[]
/**
 * How a target is chosen within a tier: by weight, by fewest calls in flight, by lowest latency, or by a hash of key and beginning of the prompt, so that upstream caches are hit. Not there yet: all but Weighted.
 */
strategy: ("Weighted" | "LeastInFlight" | "LowestLatency" | "CacheAffinity")
/**
 * When another target is tried, or another credential of the same one; never after the first byte has gone to the client.
 */
failover?: Failover
/**
 * Waits for this model; the narrower of these and the channel's counts.
 */
timeouts?: Timeouts
/**
 * Which keys may call the model, by their labels and namespace. Every key of the route's own namespace when absent.
 */
keySelector?: KeySelector
/**
 * Limits of this model over all callers.
 * 
 * Items: One limit, counted by its own counter.
 */
limits?: Limit[]
/**
 * What this model accepts, narrower than the interface's own ranges; a call outside gets a parameter error that names the field.
 * 
 * Items: One request parameter.
 */
parameters?: ParameterRule[]
/**
 * Price of a call, in credits: the sum of all that has a price, and each thing once. Absent classes of tokens fall back: reasoning to output; cachedInput, cacheWrite, audioInput and imageInput to input; audioOutput and imageOutput to output; cacheWrite1h to twice input. A class used that has neither price nor fallback is free and counted as unpriced. Keys whose spending is limited need: for chat, completions and realtime, inputPerMillion and outputPerMillion; for anything else one price that applies, of its tokens, of what it makes or reads, or perRequest. "0" is a price.
 */
price?: Price
}
/**
 * One target: a channel, or another route.
 */
export interface ModelRouteTarget {
/**
 * Name of the target, unique in the route.
 */
name: string
/**
 * A Channel. In another namespace it needs that channel's consent (allowedNamespaces).
 */
channelRef?: {
/**
 * Name of the Channel.
 */
name: string
/**
 * Namespace of the Channel; the route's own when absent.
 */
namespace?: string
}
/**
 * Another ModelRoute of the same namespace, whose targets replace this one; nothing else of it counts here, neither its limits nor its keySelector. At most three deep, without cycles.
 */
modelRef?: {
/**
 * Name of the ModelRoute.
 */
name: string
}
/**
 * Name of the model at the upstream. When absent, the name in the channel's models, else the public name.
 */
upstreamModel?: string
/**
 * Lower is tried first; the next tier only when this one has no usable member.
 */
priority: number
/**
 * Share of the calls within a tier; 0 takes none.
 */
weight: number
/**
 * Changes to the top-level members of request bodies for this target, after those of the channel.
 */
parameters?: BodyRules
}
/**
 * When another target is tried, or another credential of the same one; never after the first byte has gone to the client.
 */
export interface Failover {
/**
 * Attempts in all; 3 when absent, 1 tries no second one.
 */
maxAttempts?: number
/**
 * Failures that another target may mend. ConnectFailure, Timeout, RateLimited, ServerError, CredentialRejected and PaymentRequired when absent. YAML wants this name in quotes or reads it as true.
 * 
 * Items: One kind of failure.
 */
on?: ("ConnectFailure" | "Timeout" | "RateLimited" | "ServerError" | "CredentialRejected" | "PaymentRequired" | "ModelNotFound" | "ContextTooLong")[]
/**
 * Further upstream statuses that count as failures.
 * 
 * Items: One HTTP status.
 */
statuses?: number[]
/**
 * No further attempt begins after this time; 30s when absent.
 */
withinFirst?: string
/**
 * Pause before a further attempt; none when absent. Not there yet: it begins at once.
 */
backoff?: {
/**
 * First pause; doubles each time.
 */
base: string
/**
 * Longest pause.
 */
max?: string
}
/**
 * Whether an upstream's Retry-After is waited for before that target is asked again. Not there yet: it is passed on to the client only.
 */
retryAfter: ("Honor" | "Ignore")
}
/**
 * Which keys may call the model, by their labels and namespace. Every key of the route's own namespace when absent.
 */
export interface KeySelector {
/**
 * Labels that must be there with exactly these values.
 */
matchLabels?: { [key: string]: string }
/**
 * Conditions on labels; all must hold.
 * 
 * Items: One condition on a label; all must hold.
 */
matchExpressions?: LabelSelectorRequirement[]
/**
 * Namespaces of the keys.
 */
namespaces: {
/**
 * Same: keys of this object's own namespace. All: of every namespace. Selector: of the namespaces whose labels fit selector.
 */
from: ("Same" | "All" | "Selector")
/**
 * Labels of the namespaces. Only with from: Selector.
 */
selector?: LabelSelector
}
}
/**
 * One request parameter.
 */
export interface ParameterRule {
/**
 * Field as the interface spells it, for example temperature, max_tokens or generationConfig.topK; "n" in quotes, which YAML else reads as a boolean.
 */
name: string
/**
 * Unsupported refuses or ignores the field, as the channel's unsupportedParameters demands.
 */
support: ("Supported" | "Unsupported")
/**
 * Least value, as a decimal string.
 */
minimum?: string
/**
 * Greatest value, as a decimal string.
 */
maximum?: string
/**
 * The only values allowed; numbers and booleans in their JSON spelling.
 * 
 * Items: One value.
 */
allowed?: string[]
}
/**
 * Price of a call, in credits: the sum of all that has a price, and each thing once. Absent classes of tokens fall back: reasoning to output; cachedInput, cacheWrite, audioInput and imageInput to input; audioOutput and imageOutput to output; cacheWrite1h to twice input. A class used that has neither price nor fallback is free and counted as unpriced. Keys whose spending is limited need: for chat, completions and realtime, inputPerMillion and outputPerMillion; for anything else one price that applies, of its tokens, of what it makes or reads, or perRequest. "0" is a price.
 */
export interface Price {
/**
 * Unit of all prices.
 */
unit: "Credit"
/**
 * Per million uncached input tokens. Credits with at most six decimals.
 */
inputPerMillion?: string
/**
 * Per million input tokens read from the upstream's cache. Credits with at most six decimals.
 */
cachedInputPerMillion?: string
/**
 * Per million input tokens written to the upstream's cache. Credits with at most six decimals.
 */
cacheWritePerMillion?: string
/**
 * Per million input tokens written to the upstream's cache for an hour. Credits with at most six decimals.
 */
cacheWrite1hPerMillion?: string
/**
 * Per million output tokens. Credits with at most six decimals.
 */
outputPerMillion?: string
/**
 * Per million reasoning tokens. Credits with at most six decimals.
 */
reasoningPerMillion?: string
/**
 * Per million audio input tokens, where perMinuteAudio does not charge the audio. Credits with at most six decimals.
 */
audioInputPerMillion?: string
/**
 * Per million audio output tokens, where perMinuteAudio does not charge the audio. Credits with at most six decimals.
 */
audioOutputPerMillion?: string
/**
 * Per million image input tokens. Credits with at most six decimals.
 */
imageInputPerMillion?: string
/**
 * Per million image output tokens, where perImage does not charge the images. Credits with at most six decimals.
 */
imageOutputPerMillion?: string
/**
 * Per call. Credits with at most six decimals.
 */
perRequest?: string
/**
 * Per image made; the first entry that fits counts, and then no image output tokens are charged. An image whose size or quality nobody tells (the client leaves it out or says auto, and so does the reply) fits entries without it; where there is none, it costs as much as the dearest entry that could fit.
 * 
 * Items: Price of one size and quality.
 */
perImage?: {
/**
 * Size, for example 1024x1024; any when absent.
 */
size?: string
/**
 * Quality, for example hd; any when absent.
 */
quality?: string
/**
 * Per image. Credits with at most six decimals.
 */
price: string
}[]
/**
 * Per minute of audio heard or spoken, in proportion to the millisecond; no audio tokens are charged then. Credits with at most six decimals.
 */
perMinuteAudio?: string
/**
 * Per million characters spoken; no input tokens are charged for the text then. Credits with at most six decimals.
 */
perMillionCharacters?: string
/**
 * Per web search of a hosted tool, and per search unit of a rerank. Credits with at most six decimals.
 */
perSearch?: string
}
/**
 * State of the route as the operator observes it. Written by the operator only.
 */
export interface ModelRouteStatus {
/**
 * Generation that this status speaks about.
 */
observedGeneration?: number
/**
 * Accepted, ResolvedRefs, Programmed and Available.
 * 
 * Items: One condition, as the Kubernetes API conventions define it.
 */
conditions?: Condition[]
/**
 * State of each target.
 * 
 * Items: One target.
 */
targets?: {
/**
 * Name of the target in spec.
 */
name: string
/**
 * Whether its channel or route was found and allows this use.
 */
resolved?: ("True" | "False" | "Unknown")
/**
 * Why, in one word.
 */
reason?: string
}[]
/**
 * Public name in force.
 */
model?: string
/**
 * Number of usable targets.
 */
targetCount?: number
}
