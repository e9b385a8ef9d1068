/**
 * Lists the translators by their wire name: how calls of clients are read, and how requests to upstreams are written.
 */

import { chatCompletionsClientTranslator } from "#proxy/formats/chat-completions/translate/client-translator";
import { chatCompletionsUpstreamTranslator } from "#proxy/formats/chat-completions/translate/upstream-translator";
import { generateContentClientTranslator } from "#proxy/formats/generate-content/translate/client-translator";
import { generateContentUpstreamTranslator } from "#proxy/formats/generate-content/translate/upstream-translator";
import { messagesClientTranslator } from "#proxy/formats/messages/translate/client-translator";
import { messagesUpstreamTranslator } from "#proxy/formats/messages/translate/upstream-translator";
import { responsesClientTranslator } from "#proxy/formats/responses/translate/client-translator";
import { responsesUpstreamTranslator } from "#proxy/formats/responses/translate/upstream-translator";
import type { ClientTranslator, UpstreamTranslator } from "#proxy/formats/translator";
import type { ChatWireFormat, UpstreamWireFormat } from "#proxy/neutral/wire";

export const clientTranslators: Readonly<Record<ChatWireFormat, ClientTranslator>> = {
  ChatCompletions: chatCompletionsClientTranslator,
  Responses: responsesClientTranslator,
  Messages: messagesClientTranslator,
  GenerateContent: generateContentClientTranslator,
};

export const upstreamTranslators: Readonly<Record<UpstreamWireFormat, UpstreamTranslator>> = {
  ChatCompletions: chatCompletionsUpstreamTranslator,
  Responses: responsesUpstreamTranslator,
  Messages: messagesUpstreamTranslator,
  GenerateContent: generateContentUpstreamTranslator,
};
