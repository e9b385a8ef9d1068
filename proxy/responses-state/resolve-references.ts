/**
 * Finds what a call goes on from: `previous_response_id` and item references (DESIGN.md section 9).
 *
 * What the gateway keeps itself is put into the body, so that any provider can take the call. What a provider keeps
 * stays a reference, and binds the call to the channel and credential that made it. Called once for a call, before a
 * target is chosen; only what the call's own key made is ever found.
 */
import { GatewayError } from "../errors.ts";
import type { JsonObject } from "../protocols/json-value.ts";
import { member } from "../protocols/json-value.ts";
import { referenceOf, replayed } from "./conversation-items.ts";
import { ReferencedItems } from "./referenced-items.ts";
import type { ResponseReader } from "./response-store.ts";
import { itemsOf, type LocalResponse, type NativeResponse, type StoredResponse } from "./stored-response.ts";

/** The only upstream that can serve a call. */
export interface Affinity {
  /** `namespace/name`. */
  readonly channel: string;
  readonly credential: string | undefined;
}

export interface Resolution {
  /** The body to go on with; the same object when nothing was put into it. */
  readonly body: JsonObject;
  /** Set when the call refers to what a provider keeps. */
  readonly affinity: Affinity | undefined;
  /** Paths of references that nobody here knows, as the client spells them: the provider may, where it is shared. */
  readonly unknown: readonly string[];
}

/** Whether there is anything to find: most calls refer to nothing. */
export function hasReferences(body: JsonObject): boolean {
  const input = member(body, "input");
  const items: readonly unknown[] = Array.isArray(input) ? input : [input];
  return (
    typeof member(body, "previous_response_id") === "string" || items.some((item) => referenceOf(item) !== undefined)
  );
}

/**
 * @param owner client key that makes the call, `namespace/name`
 * @param bytesMax of what references to items may stand for together
 * @throws GatewayError `previous_response_not_found` when what it refers to is kept in two places at once, or its
 *   beginning is gone; `context_length`, `invalid_value` for too many references
 */
export async function resolveReferences(
  body: JsonObject,
  owner: string,
  store: ResponseReader,
  bytesMax = Number.POSITIVE_INFINITY,
): Promise<Resolution> {
  const affinities: Affinity[] = [];
  const unknown: string[] = [];
  const before = await itemsBefore(body, owner, store, affinities, unknown);
  const own = await ownItems(body, new ReferencedItems(owner, store, bytesMax), affinities, unknown);
  const [affinity] = affinities;
  if (affinity !== undefined && affinities.some((other) => !isSame(affinity, other))) {
    throw notFound("input", "The items that this call refers to were made by different providers.");
  }
  if (before === undefined && !own.isChanged) return { body, affinity, unknown };
  const { previous_response_id: previousId, input: _input, ...rest } = body;
  const kept = before === undefined && previousId !== undefined ? { previous_response_id: previousId } : {};
  return { body: { ...rest, ...kept, input: [...(before ?? []), ...own.items] }, affinity, unknown };
}

/** Items of the conversation that the call goes on from; undefined when they are not the gateway's to give. */
async function itemsBefore(
  body: JsonObject,
  owner: string,
  store: ResponseReader,
  affinities: Affinity[],
  unknown: string[],
): Promise<readonly JsonObject[] | undefined> {
  const previousId = member(body, "previous_response_id");
  if (typeof previousId !== "string") return undefined;
  const previous = await store.get(owner, previousId);
  if (previous === undefined) unknown.push("previous_response_id");
  if (previous?.kind === "native") {
    affinities.push(affinityOf(previous));
    // The provider goes on from all of it: every link that is known must be one that the key may use.
    await store.chain(owner, previousId);
  }
  if (previous?.kind !== "local") return undefined;
  const chain = await store.chain(owner, previousId);
  const links = chain?.filter((link): link is LocalResponse => link.kind === "local");
  if (chain === undefined || links?.length !== chain.length) throw responseNotFound(previousId);
  return links.flatMap((link) => itemsOf(link).map(replayed));
}

/** The call's own items, with references replaced by what the gateway keeps. */
async function ownItems(
  body: JsonObject,
  references: ReferencedItems,
  affinities: Affinity[],
  unknown: string[],
): Promise<{ items: readonly unknown[]; isChanged: boolean }> {
  const input = member(body, "input");
  const items: readonly unknown[] = Array.isArray(input) ? input : input === undefined || input === null ? [] : [input];
  const own: unknown[] = [];
  let isChanged = false;
  for (const [index, item] of items.entries()) {
    const id = referenceOf(item);
    const found = id === undefined ? undefined : await references.find(id);
    if (id !== undefined && found === undefined) unknown.push(Array.isArray(input) ? `input[${index}].id` : "input.id");
    if (found?.kind === "native") affinities.push(affinityOf(found.response));
    if (found?.kind === "local") isChanged = true;
    own.push(found?.kind === "local" ? replayed(found.item) : asItem(item));
  }
  return { items: own, isChanged };
}

/** A text alone is a user's message. */
function asItem(item: unknown): unknown {
  return typeof item === "string" ? { role: "user", content: item } : item;
}

function affinityOf({ channel, credential }: NativeResponse): Affinity {
  return { channel, credential };
}

function isSame(one: Affinity, other: Affinity): boolean {
  return one.channel === other.channel && one.credential === other.credential;
}

/** What a client is told about an id that it may not use or that is gone: never which of both. */
export function responseNotFound(id: string): GatewayError {
  return notFound("previous_response_id", `Previous response with id '${printable(id)}' not found.`);
}

function notFound(param: string, message: string): GatewayError {
  return new GatewayError("previous_response_not_found", message, { param });
}

/** An id is the client's own text: shown only as far as it looks like one. */
export function printable(id: string): string {
  return /^[\w.-]{1,128}$/.test(id) ? id : "…";
}

/** The response that a client's path names, for its owner. @throws GatewayError `unknown_url`, which answers 404 */
export async function findResponse(owner: string, id: string, store: ResponseReader): Promise<StoredResponse> {
  const found = await store.get(owner, id);
  if (found !== undefined) return found;
  throw storedNotFound(id);
}

/** As providers say it (`protocols/openai-responses.md` section 1). */
export function storedNotFound(id: string): GatewayError {
  return new GatewayError("unknown_url", `Response with id '${printable(id)}' not found.`);
}
