/**
 * Reads stored responses for one call. A reference of a few bytes may bring megabytes, so they count among the bytes
 * in flight before any of them is read, and are bounded as a body is.
 */
import { GatewayError } from "#proxy/errors";
import type { ByteCount } from "#proxy/http/in-flight-bytes";
import type { ReferenceKind, ResponseReader, ResponseStore } from "./response-store.ts";
import type { StoredResponse } from "./stored-response.ts";

export class HeldResponses implements ResponseReader {
  readonly #store: Pick<ResponseStore, keyof ResponseReader | "sizeOf">;
  readonly #inFlightBytes: ByteCount;
  readonly #bytesMax: number;
  #heldBytes = 0;

  /** @param bytesMax of a conversation, and of all that one call reads for references to items */
  constructor(store: Pick<ResponseStore, keyof ResponseReader | "sizeOf">, inFlightBytes: ByteCount, bytesMax: number) {
    this.#store = store;
    this.#inFlightBytes = inFlightBytes;
    this.#bytesMax = bytesMax;
  }

  /** @throws GatewayError `overloaded` where it does not fit among what is in flight; so do the others */
  async get(owner: string, id: string): Promise<StoredResponse | undefined> {
    await this.#hold("response", owner, id);
    return this.#store.get(owner, id);
  }

  /** @returns undefined for one over the bound, as for every chain that is too much */
  async chain(owner: string, id: string): Promise<readonly StoredResponse[] | undefined> {
    const isHeld = await this.#hold("chain", owner, id);
    return isHeld ? this.#store.chain(owner, id) : undefined;
  }

  /** @throws GatewayError `context_length` too */
  async findItem(owner: string, itemId: string): Promise<StoredResponse | undefined> {
    if (await this.#hold("item", owner, itemId)) return this.#store.findItem(owner, itemId);
    throw new GatewayError("context_length", "The items that this call refers to are too long together.", {
      param: "input",
    });
  }

  /** The reader must release, on every way out, when it needs the responses no more. */
  release(): void {
    this.#inFlightBytes.release(this.#heldBytes);
    this.#heldBytes = 0;
  }

  /** @returns false where the call would hold more than it may; nothing is held for it then */
  async #hold(asked: ReferenceKind, owner: string, id: string): Promise<boolean> {
    const bytes = await this.#store.sizeOf(asked, owner, id);
    if (asked !== "response" && bytes > this.#bytesMax - (asked === "item" ? this.#heldBytes : 0)) return false;
    this.#inFlightBytes.acquire(bytes);
    this.#heldBytes += bytes;
    return true;
  }
}
