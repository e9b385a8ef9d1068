/** The chat formats by their wire name: the list of what this gateway speaks. */

import { chatCompletions } from "./chat-completions/format.ts";
import type { ChatFormat } from "./chat-format.ts";
import { generateContent } from "./generate-content/format.ts";
import { messages } from "./messages/format.ts";
import { responses } from "./responses/format.ts";
import type { ChatWireFormat } from "./wire.ts";

export const chatFormats: Readonly<Record<ChatWireFormat, ChatFormat>> = {
  ChatCompletions: chatCompletions,
  Responses: responses,
  Messages: messages,
  GenerateContent: generateContent,
};
