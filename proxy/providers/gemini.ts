/** Describes Google's Gemini API. */
import { compatible } from "./compatible.ts";
import type { Provider } from "./provider.ts";

/** Common members of the interface that Google refuses as unknown. */
export const notGoogle: readonly string[] = ["metadata", "user", "n", "stop", "safety_identifier", "stream_options"];

export const gemini: Provider = {
  ...compatible,
  vendor: "Google",
  unsupported: {
    ChatCompletions: ["logit_bias", "service_tier", "store", "prediction", "web_search_options"],
    GenerateContent: notGoogle,
  },
  takesCallIds: true,
  mixesBuiltInTools: true,
  takesServiceTier: true,
};
