import assert from "node:assert/strict";
import { resolveReferences } from "#proxy/responses-state/resolve-references";
import type { ResponseStore } from "#proxy/responses-state/response-store";
import type { LocalResponse } from "#proxy/responses-state/stored-response";

const items = Array.from({ length: 300 }, (_, index) => ({
  type: "message",
  id: `msg_${index}`,
  role: "user",
  content: [{ type: "input_text", text: "x".repeat(1_000) }],
}));
const response: LocalResponse = {
  kind: "local",
  id: "resp_1",
  previousId: undefined,
  createdMs: 1,
  model: "m",
  input: items,
  response: { id: "resp_1", output: [] },
};

/** Keeps one response of many items and counts how often it is asked. */
function countingStore(): { store: ResponseStore; questions: () => number } {
  let questions = 0;
  const nothing = () => Promise.resolve(undefined);
  const store: ResponseStore = {
    keep: () => undefined,
    get: nothing,
    chain: nothing,
    sizeOf: () => Promise.resolve(0),
    remove: () => Promise.resolve(false),
    close: () => Promise.resolve(),
    findItem: (owner, id) => {
      questions += 1;
      return Promise.resolve(owner === "ns/key" && id.startsWith("msg_") ? response : undefined);
    },
  };
  return { store, questions: () => questions };
}

const referring = (ids: readonly string[]) => ({
  model: "m",
  input: ids.map((id) => ({ type: "item_reference", id })),
});

describe("items that a call refers to", () => {
  it("are read once for all that belong to one response", async () => {
    const { store, questions } = countingStore();
    const { body } = await resolveReferences(referring(items.map(({ id }) => id)), "ns/key", store, 1e9);
    assert.equal(questions(), 1);
    assert.deepEqual(Object(body["input"]).length, items.length);
  });

  it("are refused when they stand for more than a body may hold, however few bytes they are", async () => {
    const { store } = countingStore();
    const often = Array.from({ length: 10_000 }, () => "msg_1");
    const refused = { code: "context_length", param: "input" };
    await assert.rejects(resolveReferences(referring(often), "ns/key", store, 1_000_000), refused);
  });

  it("are refused when they belong to too many responses, known or not", async () => {
    const { store, questions } = countingStore();
    const many = Array.from({ length: 10_000 }, (_, index) => `unknown_${index}`);
    const refused = { code: "invalid_value", param: "input" };
    await assert.rejects(resolveReferences(referring(many), "ns/key", store, 1e9), refused);
    assert.ok(questions() <= 1_000);
  });

  it("are no other key's", async () => {
    const { store } = countingStore();
    const { unknown } = await resolveReferences(referring(["msg_1"]), "ns/other", store, 1e9);
    assert.deepEqual(unknown, ["input[0].id"]);
  });
});
