/**
 * Restricts stored responses to those that a key may use now: a key that lost a model has lost the responses it made
 * with it, whichever way a call refers to them (by id, by the chain that continues it, by one of its items).
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
