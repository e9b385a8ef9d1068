import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type TaskVendor, taskFor } from "#proxy/endpoints/embeddings/call/tasks";

describe("taskFor", () => {
  const rows: readonly [name: unknown, vendor: TaskVendor, want: string | undefined][] = [
    ["search_query", "Google", "RETRIEVAL_QUERY"],
    ["query", "Cohere", "search_query"],
    ["retrieval.passage", "Google", "RETRIEVAL_DOCUMENT"],
    ["passage", "Voyage", "document"],
    ["RETRIEVAL_DOCUMENT", "Jina", "retrieval.passage"],
    ["retrieval_document", "Cohere", "search_document"],
    ["separation", "Google", "CLUSTERING"],
    ["SEMANTIC_SIMILARITY", "Jina", "text-matching"],
    ["SEMANTIC_SIMILARITY", "Cohere", undefined],
    ["FACT_VERIFICATION", "Voyage", "query"],
    ["search_query", "Cohere", "search_query"],
    ["TASK_TYPE_UNSPECIFIED", "Google", undefined],
    ["anything", "Google", undefined],
    ["constructor", "Google", undefined],
    [undefined, "Google", undefined],
    [7, "Google", undefined],
  ];
  for (const [name, vendor, want] of rows) {
    it(`calls ${JSON.stringify(name)} ${want} at ${vendor}`, () => assert.equal(taskFor(vendor, name), want));
  }
});
