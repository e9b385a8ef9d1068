/** Chooses how a call is said to a channel: in the client's own format where it can be. */
import type { Dialect, Dialects } from "#proxy/endpoints/dialects/dialect";
import type { EmbeddingCall } from "#proxy/endpoints/embeddings/call/embedding-call";
import { namesIn } from "#proxy/endpoints/embeddings/call/embedding-parameters";
import type { FormatDialect } from "#proxy/route/select-target";
import type { WireFormat } from "#proxy/snapshot/types.gen";
import { cohereDialect } from "./cohere-dialect.ts";
import { googleDialect } from "./google-dialect.ts";
import { jinaDialect, openAIDialect, voyageDialect } from "./list-dialect.ts";
import { teiDialect } from "./tei-dialect.ts";

const byName: Readonly<Record<FormatDialect, Dialect<EmbeddingCall>>> = {
  OpenAI: openAIDialect,
  Voyage: voyageDialect,
  Jina: jinaDialect,
  Cohere: cohereDialect,
  TEI: teiDialect,
};

/** Whose shapes of `Embeddings` are spoken, the client's own first. */
export const embeddingShapes: readonly FormatDialect[] = ["OpenAI", "Voyage", "Jina", "Cohere", "TEI"];

const openAIFirst: readonly WireFormat[] = ["Embeddings", "EmbedContent"];
const googleFirst: readonly WireFormat[] = ["EmbedContent", "Embeddings"];

export const embeddingDialects: Dialects<EmbeddingCall> = {
  formatsFor: ({ endpoint }) => (endpoint.format === "Embeddings" ? openAIFirst : googleFirst),
  dialectOf: (_call, { format, dialect = "OpenAI" }) => (format === "EmbedContent" ? googleDialect : byName[dialect]),
  namesIn,
};
