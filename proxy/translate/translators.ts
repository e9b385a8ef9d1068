/** The translators by their wire name: one for each format that this gateway converts. */
import type { ChatWireFormat } from "../protocols/wire.ts";
import { chatCompletionsTranslator } from "./chat-completions/translator.ts";
import { generateContentTranslator } from "./generate-content/translator.ts";
import { messagesTranslator } from "./messages/translator.ts";
import { responsesTranslator } from "./responses/translator.ts";
import type { Translator } from "./translator.ts";

export const translators: Readonly<Record<ChatWireFormat, Translator>> = {
  ChatCompletions: chatCompletionsTranslator,
  Responses: responsesTranslator,
  Messages: messagesTranslator,
  GenerateContent: generateContentTranslator,
};
