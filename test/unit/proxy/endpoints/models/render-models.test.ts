import assert from "node:assert/strict";
import { renderModel, renderModelList } from "#proxy/endpoints/models/render-models";
import type { Protocol } from "#proxy/neutral/wire";
import { refusalOf } from "#test/support/calls/read-body";

const info = {
  ownedBy: "lab",
  createdAt: 1_700_000_000_500,
  displayName: "Smart",
  contextWindow: 1_000,
  maxOutputTokens: 100,
};
const models = ["c", "a", "b"].map((name) => ({ name, route: { info }, capabilities: ["Chat" as const] }));

function list(protocol: Protocol, query = "") {
  return JSON.parse(renderModelList(protocol, models, `/v1/models${query}`).toString());
}

describe("renderModelList", () => {
  it("lists all models by name for OpenAI clients", () => {
    const { object, data } = list("OpenAI");
    assert.equal(object, "list");
    assert.deepEqual(
      data.map((model: { id: string }) => model.id),
      ["a", "b", "c"],
    );
    assert.deepEqual(data[0], { id: "a", object: "model", created: 1_700_000_000, owned_by: "lab" });
  });

  for (const row of [
    { name: "a first page", query: "?limit=2", ids: ["a", "b"], hasMore: true },
    { name: "the next page", query: "?limit=2&after_id=b", ids: ["c"], hasMore: false },
    { name: "the page before", query: "?limit=1&before_id=c", ids: ["b"], hasMore: true },
    { name: "a page behind a model that is gone", query: "?after_id=aa", ids: ["b", "c"], hasMore: false },
    { name: "nothing behind the last", query: "?after_id=c", ids: [], hasMore: false },
  ]) {
    it(`gives Anthropic clients ${row.name}`, () => {
      const { data, has_more, first_id, last_id } = list("Anthropic", row.query);
      assert.deepEqual(
        data.map((model: { id: string }) => model.id),
        row.ids,
      );
      assert.deepEqual([has_more, first_id, last_id], [row.hasMore, row.ids[0] ?? null, row.ids.at(-1) ?? null]);
    });
  }

  it("gives Gemini clients pages that follow each other", () => {
    const first = list("Gemini", "?pageSize=2");
    assert.deepEqual(
      first.models.map((model: { name: string }) => model.name),
      ["models/a", "models/b"],
    );
    const second = list("Gemini", `?pageSize=2&pageToken=${first.nextPageToken}`);
    assert.deepEqual(
      second.models.map((model: { name: string }) => model.name),
      ["models/c"],
    );
    assert.equal("nextPageToken" in second, false);
  });

  for (const row of [
    { protocol: "Anthropic" as const, query: "?limit=0", want: "invalid_value limit" },
    { protocol: "Anthropic" as const, query: "?limit=1001", want: "invalid_value limit" },
    { protocol: "Anthropic" as const, query: "?limit=x", want: "invalid_value limit" },
    { protocol: "Anthropic" as const, query: "?after_id=a&before_id=c", want: "invalid_value before_id" },
    { protocol: "Gemini" as const, query: "?pageSize=-1", want: "invalid_value pageSize" },
    { protocol: "Gemini" as const, query: "?pageToken=%21", want: "invalid_value pageToken" },
    { protocol: "Gemini" as const, query: "?pageSize=5000", want: "accepted" },
  ]) {
    it(`responds to ${row.query} with ${row.want}`, () =>
      assert.equal(
        refusalOf(() => list(row.protocol, row.query)),
        row.want,
      ));
  }
});

describe("renderModel", () => {
  for (const row of [
    {
      protocol: "Anthropic" as const,
      want: {
        type: "model",
        id: "a",
        display_name: "Smart",
        created_at: "2023-11-14T22:13:20Z",
        max_input_tokens: 1_000,
        max_tokens: 100,
      },
    },
    {
      protocol: "Gemini" as const,
      want: {
        name: "models/a",
        version: "001",
        displayName: "Smart",
        inputTokenLimit: 1_000,
        outputTokenLimit: 100,
        supportedGenerationMethods: ["generateContent", "streamGenerateContent"],
      },
    },
  ]) {
    it(`shapes a model for ${row.protocol} clients`, () => {
      const body = renderModel(row.protocol, { name: "a", route: { info }, capabilities: ["Chat"] });
      assert.deepEqual(JSON.parse(body.toString()), row.want);
    });
  }

  it("does without any information", () => {
    const body = renderModel("OpenAI", { name: "a", route: {}, capabilities: [] });
    assert.deepEqual(JSON.parse(body.toString()), { id: "a", object: "model", created: 0, owned_by: "tollgate" });
  });
});
