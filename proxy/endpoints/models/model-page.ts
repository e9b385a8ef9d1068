/** Cuts the sorted model names into the page that a client asked for. */
import { GatewayError } from "#proxy/errors";

const limitMax = 1_000;

/** Names are compared by code unit, so a page goes on where the last one ended although models came or went between. */
export interface PageQuery {
  readonly limit: number;
  /** Only names behind this one. */
  readonly after: string | undefined;
  /** Only names before this one; the last `limit` of them. */
  readonly before: string | undefined;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
}

/** Cuts a page out of items sorted by name. */
export function cutPage<Item extends { readonly name: string }>(sorted: readonly Item[], query: PageQuery): Page<Item> {
  const { after, before, limit } = query;
  const inRange = sorted.filter(
    ({ name }) => (after === undefined || name > after) && (before === undefined || name < before),
  );
  const items = before === undefined ? inRange.slice(0, limit) : inRange.slice(-limit);
  return { items, hasMore: items.length < inRange.length };
}

/** Anthropic-style paging: `limit` 1 to 1000, 20 unless given, `after_id`, `before_id`. @throws GatewayError `invalid_value` */
export function readAnthropicPage(query: URLSearchParams): PageQuery {
  const after = query.get("after_id") ?? undefined;
  const before = query.get("before_id") ?? undefined;
  if (after !== undefined && before !== undefined) {
    throw invalid("before_id", "'after_id' and 'before_id' cannot be used together.");
  }
  return { limit: readLimit(query, "limit", 20), after, before };
}

/** Gemini-style paging: `pageSize`, 50 unless given, at most 1000, and `pageToken`. @throws GatewayError `invalid_value` */
export function readGeminiPage(query: URLSearchParams): PageQuery {
  const token = query.get("pageToken") ?? query.get("page_token") ?? "";
  const name = query.has("page_size") ? "page_size" : "pageSize";
  return { limit: readLimit(query, name, 50), after: token === "" ? undefined : decodeToken(token), before: undefined };
}

/** The token that goes on behind a name. */
export function encodeToken(name: string): string {
  return Buffer.from(name).toString("base64url");
}

function decodeToken(token: string): string {
  const name = Buffer.from(token, "base64url").toString("utf8");
  if (encodeToken(name) !== token) throw invalid("pageToken", "'pageToken' is not a token of this list.");
  return name;
}

function readLimit(query: URLSearchParams, name: string, usual: number): number {
  const text = query.get(name) ?? "";
  if (text === "") return usual;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  // Google takes 0 for "as usual" and lowers what is too large; Anthropic refuses both.
  const isGemini = name !== "limit";
  if (isGemini && limit === 0) return usual;
  if (isGemini && limit > limitMax) return limitMax;
  if (!(limit >= 1 && limit <= limitMax)) throw invalid(name, `'${name}' must be between 1 and ${limitMax}.`);
  return limit;
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError("invalid_value", message, { param });
}
