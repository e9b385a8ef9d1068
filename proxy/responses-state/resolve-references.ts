/**
 * Finds the earlier conversation that a call continues: `previous_response_id` and item references
 * (docs/design/responses.md 7).
 *
 * A conversation that the gateway stores is put into the body, so that any provider can serve the call. One that a
 * provider stores stays a reference, and binds the call to the channel and credential that made it. It is called once
 * for a call, before a target is chosen, and finds only responses that the call's own key made.
 */
import { GatewayError } from "#proxy/errors";
import { isObject, type JsonObject, member } from "#proxy/json/json-value";
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
  /** Paths of references that were found, as the client spells them. */
  readonly found: readonly string[];
  /** Paths in `body` of the references among them that stay: their items are at the provider of `affinity`. */
  readonly staying: readonly string[];
}

/** What is known of a call's references so far. */
class Findings {
  readonly affinities: Affinity[] = [];
  readonly unknown: string[] = [];
  readonly found: string[] = [];
  readonly staying: string[] = [];
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
 * @param bytesMax of all items that are referred to together
 * @throws GatewayError `previous_response_not_found` when what it refers to is kept in two places at once, or its
 *   beginning is gone; `context_length`, `invalid_value` for too many references
 */
export async function resolveReferences(
  body: JsonObject,
  owner: string,
  store: ResponseReader,
  bytesMax = Number.POSITIVE_INFINITY,
): Promise<Resolution> {
  const findings = new Findings();
  const references = new ReferencedItems(owner, store, bytesMax);
  const before = await itemsBefore(body, { owner, store, references }, findings);
  const own = await ownItems(body, before?.length, references, findings);
  const { affinities, unknown, found, staying } = findings;
  const [affinity] = affinities;
  if (affinity !== undefined && affinities.some((other) => !isSame(affinity, other))) {
    throw notFound("input", "The items that this call refers to were made by different providers.");
  }
  if (before === undefined && !own.isChanged) return { body, affinity, unknown, found, staying };
  const { previous_response_id: previousId, input: _input, ...rest } = body;
  const kept = before === undefined && previousId !== undefined ? { previous_response_id: previousId } : {};
  const items = [...(before ?? []), ...own.items];
  return { body: { ...rest, ...kept, input: items }, affinity, unknown, found, staying };
}

interface Sources {
  readonly owner: string;
  readonly store: ResponseReader;
  readonly references: ReferencedItems;
}

/** Items of the earlier conversation of the call; undefined when they are not the gateway's to give. */
async function itemsBefore(
  body: JsonObject,
  { owner, store, references }: Sources,
  findings: Findings,
): Promise<readonly unknown[] | undefined> {
  const path = "previous_response_id";
  const previousId = member(body, path);
  if (typeof previousId !== "string") return undefined;
  // The chain ends with it: read by itself only where there is no chain to be had.
  const chain = await store.chain(owner, previousId);
  const previous = chain?.at(-1) ?? (await store.get(owner, previousId));
  if (previous === undefined) findings.unknown.push(path);
  else findings.found.push(path);
  if (previous?.kind === "native") {
    findings.affinities.push(affinityOf(previous));
    // The provider continues all of it: that every known link is one that the key may use, `chain` has seen to.
    findings.staying.push(path);
  }
  if (previous?.kind !== "local") return undefined;
  const links = chain?.filter((link): link is LocalResponse => link.kind === "local");
  if (chain === undefined || links?.length !== chain.length) throw responseNotFound(previousId);
  const items: unknown[] = [];
  for (const item of links.flatMap(itemsOf)) {
    // Turns are kept as they were sent: one may have referred to an item in its turn.
    const paths = { client: path, body: `input[${items.length}].id` };
    items.push(await resolvedItem(item, paths, references, findings));
  }
  return items.map((item) => (isObject(item) ? replayed(item) : item));
}

/**
 * The call's own items, with references replaced by what the gateway keeps.
 * @param offset items that go before them; undefined where nothing is put before
 */
async function ownItems(
  body: JsonObject,
  offset: number | undefined,
  references: ReferencedItems,
  findings: Findings,
): Promise<{ items: readonly unknown[]; isChanged: boolean }> {
  const input = member(body, "input");
  const items: readonly unknown[] = Array.isArray(input) ? input : input === undefined || input === null ? [] : [input];
  const own: unknown[] = [];
  let isChanged = false;
  for (const [index, item] of items.entries()) {
    const client = Array.isArray(input) ? `input[${index}].id` : "input.id";
    const isAsSent = offset === undefined && !Array.isArray(input);
    const paths = { client, body: isAsSent ? client : `input[${(offset ?? 0) + index}].id` };
    const resolved = await resolvedItem(item, paths, references, findings);
    if (resolved !== item) isChanged = true;
    own.push(asItem(resolved));
  }
  return { items: own, isChanged };
}

/** @returns the same item where it stays what it is: no reference, or one that the gateway keeps nothing for */
async function resolvedItem(
  item: unknown,
  paths: { readonly client: string; readonly body: string },
  references: ReferencedItems,
  { affinities, unknown, found, staying }: Findings,
): Promise<unknown> {
  const id = referenceOf(item);
  if (id === undefined) return item;
  const referenced = await references.find(id);
  if (referenced === undefined) {
    unknown.push(paths.client);
    return item;
  }
  found.push(paths.client);
  if (referenced.kind === "local") return replayed(referenced.item);
  affinities.push(affinityOf(referenced.response));
  staying.push(paths.body);
  return item;
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

/** The response that a client's path names, for its owner. @throws GatewayError `unknown_url`, status 404 */
export async function findResponse(owner: string, id: string, store: ResponseReader): Promise<StoredResponse> {
  const found = await store.get(owner, id);
  if (found !== undefined) return found;
  throw storedNotFound(id);
}

/** As providers say it (docs/design/responses.md 1). */
export function storedNotFound(id: string): GatewayError {
  return new GatewayError("unknown_url", `Response with id '${printable(id)}' not found.`);
}
