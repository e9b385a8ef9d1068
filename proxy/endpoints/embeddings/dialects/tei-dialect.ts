/**
 * Speaks to the own `/embed` of Text Embeddings Inference
 * (https://huggingface.co/docs/text-embeddings-inference/quick_tour), which serves one model and reports no usage.
 */
import type { Dialect } from "#proxy/endpoints/dialects/dialect";
import { missingUsage } from "#proxy/endpoints/embeddings/call/count-input";
import type { EmbeddingCall } from "#proxy/endpoints/embeddings/call/embedding-call";
import { asCount, asTruncation, SaidFields, textsOf } from "#proxy/endpoints/embeddings/call/said-fields";
import { readLists } from "#proxy/endpoints/embeddings/vectors/read-own-shapes";
import { vectorReader } from "#proxy/endpoints/embeddings/vectors/vector-reader";
import { writtenBody } from "./written-body.ts";

export const teiDialect: Dialect<EmbeddingCall> = {
  write: (call, plan) => {
    const fields = new SaidFields(call, plan.unsupported);
    const members = {
      inputs: textsOf(call),
      dimensions: fields.take("dimensions", asCount),
      truncate: fields.take("truncate", asTruncation),
    };
    return { body: writtenBody(members, plan), dropped: fields.lost(plan.channel) };
  },
  missingUsage,
  reader: (call) => vectorReader(call, readLists),
};
