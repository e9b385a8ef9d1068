/** Speaks to upstreams of Cohere's `/v2/embed` (https://docs.cohere.com/reference/embed). */
import type { Dialect } from "#proxy/endpoints/dialects/dialect";
import { missingUsage } from "#proxy/endpoints/embeddings/call/count-input";
import type { EmbeddingCall } from "#proxy/endpoints/embeddings/call/embedding-call";
import { asCount, asTruncation, SaidFields, textsOf } from "#proxy/endpoints/embeddings/call/said-fields";
import { taskFor } from "#proxy/endpoints/embeddings/call/tasks";
import { readCohere } from "#proxy/endpoints/embeddings/vectors/read-own-shapes";
import { vectorReader } from "#proxy/endpoints/embeddings/vectors/vector-reader";
import { writtenBody } from "./written-body.ts";

/** Required by its models. Most texts that are embedded are kept to be found. */
const usualTask = "search_document";

export const cohereDialect: Dialect<EmbeddingCall> = {
  write: (call, plan) => {
    const fields = new SaidFields(call, plan.unsupported);
    const members = {
      model: plan.upstreamModel,
      texts: textsOf(call),
      input_type: fields.take("task", (value) => taskFor("Cohere", value)) ?? usualTask,
      embedding_types: [call.encoding],
      output_dimension: fields.take("dimensions", asCount),
      truncate: fields.take("truncate", asEnd),
    };
    return { body: writtenBody(members, plan), dropped: fields.lost(plan.channel) };
  },
  missingUsage,
  reader: (call) => vectorReader(call, readCohere),
};

/** At which end too long a text is cut. */
function asEnd(value: unknown): string | undefined {
  if (value === "START") return value;
  const truncation = asTruncation(value);
  if (truncation === undefined) return undefined;
  return truncation ? "END" : "NONE";
}
