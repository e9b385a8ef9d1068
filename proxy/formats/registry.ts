/** Lists the chat formats by their wire name: those that this gateway speaks with clients, and those with upstreams. */

import type { ChatWireFormat, UpstreamWireFormat } from "#proxy/neutral/wire";
import { chatCompletionsClient } from "./chat-completions/native/client-format.ts";
import { chatCompletionsUpstream } from "./chat-completions/native/upstream-format.ts";
import type { ClientFormat, UpstreamFormat } from "./format.ts";
import { generateContentClient } from "./generate-content/native/client-format.ts";
import { generateContentUpstream } from "./generate-content/native/upstream-format.ts";
import { messagesClient } from "./messages/native/client-format.ts";
import { messagesUpstream } from "./messages/native/upstream-format.ts";
import { responsesClient } from "./responses/native/client-format.ts";
import { responsesUpstream } from "./responses/native/upstream-format.ts";

export const clientFormats: Readonly<Record<ChatWireFormat, ClientFormat>> = {
  ChatCompletions: chatCompletionsClient,
  Responses: responsesClient,
  Messages: messagesClient,
  GenerateContent: generateContentClient,
};

export const upstreamFormats: Readonly<Record<UpstreamWireFormat, UpstreamFormat>> = {
  ChatCompletions: chatCompletionsUpstream,
  Responses: responsesUpstream,
  Messages: messagesUpstream,
  GenerateContent: generateContentUpstream,
};
