/** Describes Anthropic's own API. */
import { compatible } from "./compatible.ts";
import type { Provider } from "./provider.ts";

export const anthropic: Provider = {
  ...compatible,
  vendor: "Anthropic",
  unsupported: {
    Messages: [
      "n",
      "seed",
      "stop",
      "logit_bias",
      "frequency_penalty",
      "presence_penalty",
      "response_format",
      "parallel_tool_calls",
      "stream_options",
      "store",
      "reasoning_effort",
      "safety_identifier",
    ],
  },
  fetchesFiles: true,
};
