/**
 * Defines the endpoints that make vectors of texts: `/v1/embeddings`, and Google's `:embedContent` and
 * `:batchEmbedContents`.
 */
import { attachmentTokens, estimateTextTokens } from "#proxy/admit/estimate-cost";
import { estimateUnits } from "#proxy/admit/estimate-units";
import type { SettlementContext } from "#proxy/dispatch/reservations/settle-call";
import { UnitSettlement } from "#proxy/dispatch/reservations/settle-units";
import { jsonWriter } from "#proxy/endpoints/dialects/open-ai-writer";
import { serveDialects } from "#proxy/endpoints/dialects/serve-dialects";
import type { CallEndpoint, VerbPath } from "#proxy/endpoints/endpoint";
import { openAIPath } from "#proxy/endpoints/open-ai-path";
import { embeddingCounter } from "./call/count-input.ts";
import type { EmbeddingCall, EmbeddingPath, EmbeddingVerb } from "./call/embedding-call.ts";
import { checkEmbeddingRules } from "./call/embedding-parameters.ts";
import { readEmbedContent } from "./call/read-embed-content.ts";
import { readEmbeddings } from "./call/read-embeddings.ts";
import { embeddingDialects, embeddingShapes } from "./dialects/embedding-dialects.ts";

export const embeddings: CallEndpoint<EmbeddingPath, EmbeddingCall> = {
  name: "embeddings",
  capability: "Embeddings",
  channelFormats: ["Embeddings", "EmbedContent"],
  channelDialects: { Embeddings: embeddingShapes },
  body: "json",
  paths: [
    openAIPath("/v1/embeddings", { protocol: "OpenAI", format: "Embeddings", capability: "Embeddings" }),
    googlePath("embedContent"),
    googlePath("batchEmbedContents"),
  ],
  metricFormat: ({ format }) => format,
  read: (bytes, match, limits) =>
    match.format === "Embeddings" ? readEmbeddings(bytes, match, limits) : readEmbedContent(bytes, match, limits),
  checkParameters: checkEmbeddingRules,
  need: ({ call, route, snapshot }) => {
    const { textBytes, bytes } = call.body;
    const text = estimateTextTokens(textBytes, bytes.length, snapshot.fleet);
    const input = text + call.tokenIds + call.attachments * attachmentTokens;
    return { amounts: estimateUnits({ usage: { input } }, route.price) };
  },
  settlement: (context: SettlementContext<EmbeddingCall>) => new UnitSettlement(context, embeddingCounter(context)),
  serve: (admitted) => serveDialects(admitted, embeddingDialects, jsonWriter),
};

function googlePath(verb: EmbeddingVerb): VerbPath<EmbeddingPath> {
  const match = { protocol: "Gemini", format: "EmbedContent", capability: "Embeddings", verb } as const;
  return { kind: "verb", verb, match: (modelInPath) => ({ ...match, modelInPath }) };
}
