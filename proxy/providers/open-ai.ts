/** Describes OpenAI's own API. */
import { compatible } from "./compatible.ts";
import type { Provider } from "./provider.ts";

export const openAI: Provider = {
  ...compatible,
  vendor: "OpenAI",
  unsupported: {
    ChatCompletions: [
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
    Responses: [
      "top_k",
      "min_p",
      "repetition_penalty",
      "n",
      "seed",
      "stop",
      "logit_bias",
      "logprobs",
      "frequency_penalty",
      "presence_penalty",
      "response_format",
      "extra_body",
    ],
  },
  // Reasoning models refuse `max_tokens`.
  chatCapMember: "max_completion_tokens",
};
