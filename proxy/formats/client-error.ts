/**
 * Turns an upstream's error into the error that the client gets (docs/design/errors.md 5).
 *
 * An upstream's text passes only where the client can act on it (a bad request, a prompt too long, a policy), and only
 * after the upstream's model name became the public one and everything that looks like a key, an organisation, an
 * address or markup is gone; the channel's own secrets go first, while the text is whole. Every other error gets the
 * gateway's own words: the client must not learn which credential failed.
 */
import { GatewayError } from "#proxy/errors";
import type { UpstreamError } from "./format.ts";
import { upstreamErrors } from "./upstream-errors.ts";

export interface ClientErrorContext {
  readonly publicModel: string;
  readonly upstreamModel: string;
  readonly requestId: string;
  /** What the channel sends to identify itself: an upstream may repeat it, and no pattern knows its form. */
  readonly channelSecrets?: readonly string[];
}

/** The error as the client may see it; `cause` keeps the upstream's own for the log. */
export function toClientError(error: UpstreamError, context: ClientErrorContext): GatewayError {
  const { clientCode, ownWords } = upstreamErrors[error.kind];
  const mayPass = error.kind === "bad_request" || error.kind === "context_length" || error.kind === "policy";
  const text = mayPass ? cleanUpstreamText(error.message, context) : "";
  const message = text === "" ? `${ownWords} (request ${context.requestId})` : text;
  const isAboutField = (mayPass || error.kind === "capability") && isFieldPath(error.param, context);
  return new GatewayError(clientCode, message, {
    ...(error.param === undefined || !isAboutField ? {} : { param: error.param }),
    ...(error.retryAfterMs === undefined
      ? {}
      : { retryAfterSeconds: Math.max(1, Math.ceil(error.retryAfterMs / 1_000)) }),
    cause: error,
  });
}

/** What holds a key or looks like one is no field. */
function isFieldPath(param: string | undefined, context: ClientErrorContext): boolean {
  if (param === undefined || !/^[\w.[\]$-]{1,200}$/.test(param)) return false;
  return withoutSecrets(param, context) === param && param.search(keyShape) < 0;
}

const keyShape = /\b(?:sk|pk|rk|gsk|xai|pplx|key|sess)[-_][\w*.-]{6,}/gi;

/** What upstream text may not carry to a client, by shape. */
const shapes: readonly (readonly [RegExp, string])[] = [
  [/<[^>]{0,500}>/g, " "],
  [/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>)\]]+/gi, "[address]"],
  [keyShape, "[key]"],
  [/\bAIza[\w*-]{6,}/g, "[key]"],
  [/\bBearer\s+\S+/gi, "[key]"],
  [/\b(?:org|proj|acct|wrkspc|user)[-_][A-Za-z0-9]{4,}\b/g, "[account]"],
  [/\b(?:req|chatcmpl|gen)[-_][A-Za-z0-9-]{6,}\b/g, "[request]"],
  [/\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b/g, "[address]"],
  [/\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b/g, "[address]"],
  [
    /\b(?:[a-z0-9-]+\.)+(?:com|net|org|io|ai|dev|app|cloud|internal|local|svc|cluster)\b(?::\d{1,5})?(?:\/[^\s"'<>)\]]*)?/gi,
    "[address]",
  ],
  [/\bprojects\/[\w-]+/g, "[account]"],
];

/** Shorter values are words of every text: `true` in a header of the channel is no secret. */
const secretLengthMin = 8;
/** So much of a secret says nothing of it. */
const begunLengthMin = 4;

function withoutSecrets(text: string, { channelSecrets = [] }: Pick<ClientErrorContext, "channelSecrets">): string {
  const spellings = channelSecrets.filter(({ length }) => length >= secretLengthMin).flatMap(spellingsOf);
  // The longest first: one secret may be the beginning of another.
  spellings.sort((one, other) => other.length - one.length);
  let cleaned = text;
  for (const spelling of spellings) cleaned = cleaned.replaceAll(spelling, "[key]");
  for (const spelling of spellings) cleaned = withoutBegun(cleaned, spelling);
  return cleaned;
}

function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString("base64").replace(/=+$/, ""),
    bytes.toString("hex"),
  ];
}

/** A reply that broke off, or was not read to its end, may end within a secret. */
function withoutBegun(text: string, spelling: string): string {
  for (let length = spelling.length - 1; length >= begunLengthMin; length -= 1)
    if (text.endsWith(spelling.slice(0, length))) return `${text.slice(0, -length)}[key]`;
  return text;
}

/** Upstream text as it may reach a client; empty when nothing is left. */
export function cleanUpstreamText(
  text: string,
  context: Pick<ClientErrorContext, "publicModel" | "upstreamModel" | "channelSecrets">,
): string {
  let cleaned = cut(withoutSecrets(text, context));
  for (const [pattern, replacement] of shapes) cleaned = cleaned.replace(pattern, replacement);
  cleaned = replaceName(cleaned, context.upstreamModel, context.publicModel);
  return [...cleaned]
    .map((character) => (character < " " || character === "\u007f" ? " " : character))
    .join("")
    .replace(/ {2,}/g, " ")
    .trim();
}

/** Longest text that goes to a client (docs/design/errors.md 1). */
const textLengthMax = 2_048;
const wordLengthMax = 256;

/** Between two words where it can be: half of an address has no shape. */
function cut(text: string): string {
  if (text.length <= textLengthMax) return text;
  const end = text.lastIndexOf(" ", textLengthMax);
  return text.slice(0, end < textLengthMax - wordLengthMax ? textLengthMax : end);
}

/** Replaces a model name where it stands as a word of its own: `gpt-5` inside `gpt-5-mini` is another model. */
function replaceName(text: string, from: string, to: string): string {
  if (from === "" || from === to) return text;
  const escaped = from.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return text.replace(new RegExp(`(?<![\\w-])${escaped}(?![\\w-]|\\.\\w)`, "g"), () => to);
}
