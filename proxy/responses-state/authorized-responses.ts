/**
 * Kept responses as one key may use them now: a key that lost a model has lost what it made with it, by whatever way a
 * call comes to it (its id, the chain that goes on from it, one of its items).
 */
import type { ResponseReader } from "./response-store.ts";
import type { StoredResponse } from "./stored-response.ts";

/** @param authorize throws for a model that the key may not use */
export function authorizedResponses(store: ResponseReader, authorize: (model: string) => void): ResponseReader {
  const authorized = (found: StoredResponse | undefined): StoredResponse | undefined => {
    if (found !== undefined) authorize(found.model);
    return found;
  };
  return {
    get: async (owner, id) => authorized(await store.get(owner, id)),
    findItem: async (owner, itemId) => authorized(await store.findItem(owner, itemId)),
    chain: async (owner, id) => {
      const chain = await store.chain(owner, id);
      for (const link of chain ?? []) authorize(link.model);
      return chain;
    },
  };
}
