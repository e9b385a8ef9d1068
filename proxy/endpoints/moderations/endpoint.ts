/** Defines the endpoint that says whether texts and images are harmful: `/v1/moderations`. */
import { attachmentTokens, estimateTextTokens } from "#proxy/admit/estimate-cost";
import { estimateUnits } from "#proxy/admit/estimate-units";
import type { SettlementContext } from "#proxy/dispatch/reservations/settle-call";
import { UnitSettlement } from "#proxy/dispatch/reservations/settle-units";
import { jsonWriter } from "#proxy/endpoints/dialects/open-ai-writer";
import { serveDialects } from "#proxy/endpoints/dialects/serve-dialects";
import { textCounter } from "#proxy/endpoints/dialects/text-counter";
import type { CallEndpoint } from "#proxy/endpoints/endpoint";
import { openAIPath } from "#proxy/endpoints/open-ai-path";
import type { CallPath } from "#proxy/neutral/wire";
import { checkMemberRules } from "#proxy/parameters/member-rules";
import { moderationDialects } from "./open-ai-dialect.ts";
import { type ModerationCall, readModeration } from "./read-moderation.ts";

export const moderations: CallEndpoint<CallPath, ModerationCall> = {
  name: "moderations",
  capability: "Moderation",
  channelFormats: ["Moderations"],
  body: "json",
  paths: [openAIPath("/v1/moderations", { protocol: "OpenAI", format: "Moderations", capability: "Moderation" })],
  metricFormat: ({ format }) => format,
  read: readModeration,
  checkParameters: ({ body }, route) => checkMemberRules(body, route),
  need: ({ call, route, snapshot }) => {
    const { textBytes, bytes } = call.body;
    const input = estimateTextTokens(textBytes, bytes.length, snapshot.fleet) + call.images * attachmentTokens;
    return { amounts: estimateUnits({ usage: { input } }, route.price) };
  },
  settlement: (context: SettlementContext<ModerationCall>) =>
    new UnitSettlement(context, textCounter(context, { parts: context.call.inputs, attachments: context.call.images })),
  serve: (admitted) => serveDialects(admitted, moderationDialects, jsonWriter),
};
