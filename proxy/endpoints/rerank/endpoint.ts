/**
 * Defines the endpoints that sort documents by what they say to a query: `/v1/rerank` and `/v2/rerank`
 * (docs/design/rerank.md).
 */
import type { SettlementContext } from "#proxy/dispatch/reservations/settle-call";
import { UnitSettlement } from "#proxy/dispatch/reservations/settle-units";
import { jsonWriter } from "#proxy/endpoints/dialects/open-ai-writer";
import { serveDialects } from "#proxy/endpoints/dialects/serve-dialects";
import type { CallEndpoint } from "#proxy/endpoints/endpoint";
import { openAIPath } from "#proxy/endpoints/open-ai-path";
import { checkMemberRules } from "#proxy/parameters/member-rules";
import { estimateRerank, rerankCounter } from "./count-rerank.ts";
import { rerankDialects } from "./dialects.ts";
import { type RerankCall, type RerankPath, type ResponseShape, readRerank, rerankSpellings } from "./read-rerank.ts";

function inShape(shape: ResponseShape): RerankPath {
  return { protocol: "OpenAI", format: "Rerank", capability: "Rerank", shape };
}

export const rerank: CallEndpoint<RerankPath, RerankCall> = {
  name: "rerank",
  capability: "Rerank",
  channelFormats: ["Rerank"],
  channelDialects: { Rerank: ["Jina", "Cohere", "Voyage", "TEI"] },
  body: "json",
  paths: [
    openAIPath("/v1/rerank", inShape("Jina")),
    { kind: "fixed", path: "/v2/rerank", otherSpellings: ["/v1/v2/rerank"], match: inShape("Cohere") },
  ],
  metricFormat: ({ format }) => format,
  read: readRerank,
  checkParameters: ({ body }, route) => checkMemberRules(body, route, rerankSpellings),
  need: ({ call, route, snapshot }) => estimateRerank(call, snapshot, route),
  settlement: (context: SettlementContext<RerankCall>) => new UnitSettlement(context, rerankCounter(context)),
  serve: (admitted) => serveDialects(admitted, rerankDialects, jsonWriter),
};
