/**
 * Finds the stored items that one call refers to. A reference of a few bytes stands for megabytes, so each response is
 * read once for a call however many of its items are named, and the size of all referenced items together is bounded.
 */
import { GatewayError } from "#proxy/errors";
import type { JsonObject } from "#proxy/json/json-value";
import { referenceOf } from "./conversation-items.ts";
import type { ResponseReader } from "./response-store.ts";
import { itemsOf, type NativeResponse } from "./stored-response.ts";

/** Questions to the store for one call: one for each response that is referred to, and for each unknown id. */
const lookupsMax = 1_000;

/** An item that the gateway keeps, or the response at a provider that it belongs to. */
export type ReferencedItem =
  | { readonly kind: "local"; readonly item: JsonObject }
  | { readonly kind: "native"; readonly response: NativeResponse };

export class ReferencedItems {
  readonly #owner: string;
  readonly #store: ResponseReader;
  readonly #bytesMax: number;
  readonly #known = new Map<string, ReferencedItem | undefined>();
  readonly #sizes = new Map<JsonObject, number>();
  #lookups = 0;
  #bytes = 0;

  /** @param bytesMax of all items that are referred to, each as often as it is */
  constructor(owner: string, store: ResponseReader, bytesMax: number) {
    this.#owner = owner;
    this.#store = store;
    this.#bytesMax = bytesMax;
  }

  /**
   * @returns undefined for an id that the owner's responses do not have
   * @throws GatewayError `invalid_value` for too many references, `context_length` for too much behind them
   */
  async find(id: string): Promise<ReferencedItem | undefined> {
    if (!this.#known.has(id)) await this.#lookUp(id);
    const found = this.#known.get(id);
    if (found?.kind === "local") this.#count(found.item);
    return found;
  }

  async #lookUp(id: string): Promise<void> {
    this.#lookups += 1;
    if (this.#lookups > lookupsMax) {
      throw new GatewayError("invalid_value", `A call may refer to items of at most ${lookupsMax} responses.`, {
        param: "input",
      });
    }
    const response = await this.#store.findItem(this.#owner, id);
    this.#known.set(id, response?.kind === "native" ? { kind: "native", response } : undefined);
    if (response?.kind !== "local") return;
    for (const item of itemsOf(response)) {
      const { id: itemId } = item;
      // An item that is itself a reference has nothing to stand for another one with.
      const isWhole = referenceOf(item) === undefined;
      if (isWhole && typeof itemId === "string" && this.#known.get(itemId) === undefined) {
        this.#known.set(itemId, { kind: "local", item });
      }
    }
  }

  #count(item: JsonObject): void {
    const size = this.#sizes.get(item) ?? JSON.stringify(item).length;
    this.#sizes.set(item, size);
    this.#bytes += size;
    if (this.#bytes <= this.#bytesMax) return;
    throw new GatewayError("context_length", "The items that this call refers to are too long together.", {
      param: "input",
    });
  }
}
