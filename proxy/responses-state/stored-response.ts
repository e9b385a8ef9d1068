/**
 * Describes a stored response, so that a later call can continue it (docs/design/responses.md 7).
 *
 * There are two kinds. `local`: an upstream of another format made it, so the gateway stores the conversation itself.
 * `native`: an upstream that speaks the responses format stores it; the gateway knows which channel and credential
 * made it, and nothing of its content.
 */
import type { JsonObject } from "#proxy/json/json-value";
import { referenceOf } from "./conversation-items.ts";

interface Stored {
  /** As the client knows it. */
  readonly id: string;
  readonly previousId: string | undefined;
  /** Milliseconds since the epoch. */
  readonly createdMs: number;
  /** Public name as the client wrote it: who may not use it may not use the response. */
  readonly model: string;
}

export interface LocalResponse extends Stored {
  readonly kind: "local";
  /** Items that this call brought, each with an id; those of the responses before it are kept with those. */
  readonly input: readonly JsonObject[];
  /** The whole response object as the client got it. */
  readonly response: JsonObject;
}

export interface NativeResponse extends Stored {
  readonly kind: "native";
  /** `namespace/name`. */
  readonly channel: string;
  /** Undefined for a channel without credentials. */
  readonly credential: string | undefined;
  /** Ids of its items, for calls that refer to one. */
  readonly itemIds: readonly string[];
}

export type StoredResponse = LocalResponse | NativeResponse;

/** Ids of the items by which a later call may refer to them. */
export function itemIdsOf(stored: StoredResponse): readonly string[] {
  if (stored.kind === "native") return stored.itemIds;
  // What a call referred to is not its own to give.
  return itemsOf(stored).flatMap((item) => {
    const { id } = item;
    return typeof id === "string" && id !== "" && referenceOf(item) === undefined ? [id] : [];
  });
}

/** Items of a kept conversation's one turn: what came in and what went out. */
export function itemsOf({ input, response }: LocalResponse): readonly JsonObject[] {
  const output: readonly unknown[] = Array.isArray(response["output"]) ? response["output"] : [];
  return [...input, ...output.flatMap((item) => (typeof item === "object" && item !== null ? [{ ...item }] : []))];
}
