/**
 * Describes Mistral's own API, which answers a member that it does not know with 422
 * (https://docs.mistral.ai/api, the schemas of chat completions and of embeddings).
 *
 * What would change the reply in kind, such as `functions` or `audio`, is left for it to refuse.
 */
import { compatible } from "./compatible.ts";
import type { Provider } from "./provider.ts";

export const mistral: Provider = {
  ...compatible,
  renamed: {
    ChatCompletions: { max_completion_tokens: "max_tokens", seed: "random_seed" },
    Embeddings: { dimensions: "output_dimension" },
  },
  takesStreamOptions: false,
  unsupported: {
    ChatCompletions: [
      "logit_bias",
      "logprobs",
      "top_logprobs",
      "user",
      "store",
      "service_tier",
      "verbosity",
      "prompt_cache_retention",
      "top_k",
      "min_p",
      "top_a",
      "repetition_penalty",
      "enable_thinking",
      "thinking",
      "thinking_budget",
      "chat_template_kwargs",
      "extra_body",
    ],
    Embeddings: ["user"],
  },
};
