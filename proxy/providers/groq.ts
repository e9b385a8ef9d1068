/**
 * Describes Groq's API, which answers a member that it does not know, and some that it knows, with 400
 * (https://console.groq.com/docs/openai).
 */
import { compatible } from "./compatible.ts";
import type { Provider } from "./provider.ts";

export const groq: Provider = {
  ...compatible,
  chatCapMember: "max_completion_tokens",
  unsupported: {
    ChatCompletions: [
      "logit_bias",
      "logprobs",
      "top_logprobs",
      "prompt_cache_key",
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
  },
};
