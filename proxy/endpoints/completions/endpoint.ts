/**
 * Defines the endpoint that goes on with a text: `/v1/completions`, which chat completions have replaced
 * (docs/design/completions.md).
 */

import { ChatSettlement, type ChatSettlementContext } from "#proxy/dispatch/reservations/settle-chat";
import type { CallEndpoint } from "#proxy/endpoints/endpoint";
import { openAIPath } from "#proxy/endpoints/open-ai-path";
import type { CallPath } from "#proxy/neutral/wire";
import { checkMemberRules } from "#proxy/parameters/member-rules";
import { completionFormats, inChat } from "./completion-formats.ts";
import { estimateCompletion } from "./estimate-completion.ts";
import { completionSpellings } from "./output-cap.ts";
import { type CompletionCall, readCompletion } from "./read-completion.ts";
import { serveCompletion } from "./serve-completion.ts";

export const completions: CallEndpoint<CallPath, CompletionCall> = {
  name: "completions",
  capability: "Completion",
  channelFormats: completionFormats,
  instead: inChat,
  body: "json",
  paths: [openAIPath("/v1/completions", { protocol: "OpenAI", format: "Completions", capability: "Completion" })],
  metricFormat: ({ format }) => format,
  read: readCompletion,
  checkParameters: ({ body }, route) => checkMemberRules(body, route, completionSpellings),
  need: estimateCompletion,
  settlement: (context: ChatSettlementContext<CompletionCall>) => new ChatSettlement(context, context.call.prompts),
  serve: serveCompletion,
};
