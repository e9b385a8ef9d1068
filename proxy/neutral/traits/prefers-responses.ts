import { chatTraitsOf as chatTraits } from "./chat-traits.ts";
import type { ModelOnChannel } from "./memoise-traits.ts";

/** Whether a model thinks better in Responses than in chat completions: OpenAI's own, and those that refuse functions there. */
export function prefersResponses(target: ModelOnChannel): boolean {
  const { isOpenAI, efforts, toolsOnChat } = chatTraits(target);
  return efforts.length > 0 && (isOpenAI || toolsOnChat !== "with-effort");
}
