/** The chat formats by their wire name: the list of what this gateway speaks. */

import type { ChatWireFormat } from "#proxy/neutral/wire";
import { chatCompletions } from "./chat-completions/native/format.ts";
import type { ChatFormat } from "./format.ts";
import { generateContent } from "./generate-content/native/format.ts";
import { messages } from "./messages/native/format.ts";
import { responses } from "./responses/native/format.ts";

export const chatFormats: Readonly<Record<ChatWireFormat, ChatFormat>> = {
  ChatCompletions: chatCompletions,
  Responses: responses,
  Messages: messages,
  GenerateContent: generateContent,
};
