/** The translators by their wire name: one for each format that this gateway converts. */

import { chatCompletionsTranslator } from "#proxy/formats/chat-completions/translate/translator";
import { generateContentTranslator } from "#proxy/formats/generate-content/translate/translator";
import { messagesTranslator } from "#proxy/formats/messages/translate/translator";
import { responsesTranslator } from "#proxy/formats/responses/translate/translator";
import type { Translator } from "#proxy/formats/translator";
import type { ChatWireFormat } from "#proxy/neutral/wire";

export const translators: Readonly<Record<ChatWireFormat, Translator>> = {
  ChatCompletions: chatCompletionsTranslator,
  Responses: responsesTranslator,
  Messages: messagesTranslator,
  GenerateContent: generateContentTranslator,
};
