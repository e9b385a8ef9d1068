/**
 * Describes servers that speak a vendor's format: they get every member of it, and the output cap under the name that
 * all of them know.
 */
import type { Provider } from "./provider.ts";

export const compatible: Provider = {
  unsupported: {},
  renamed: {},
  takesStreamOptions: true,
  // Many know nothing else.
  chatCapMember: "max_tokens",
  fetchesFiles: false,
  takesCallIds: false,
  mixesBuiltInTools: false,
  takesServiceTier: false,
};
