import assert from "node:assert/strict";
import { continuedBody } from "#proxy/formats/messages/translate/paused-turn/continued-body";

const content = [{ type: "text", text: "so far" }];
const answered = { content, containerId: undefined, outputTokens: 300 };
const base = { model: "m", max_tokens: 4_000, messages: [{ role: "user", content: "hi" }] };

function bodyOf(request: object, changes: object = {}): Record<string, unknown> | undefined {
  const next = continuedBody(Buffer.from(JSON.stringify(request)), { ...answered, ...changes });
  return next === undefined ? undefined : JSON.parse(next.bytes.toString());
}

describe("the request that continues a paused turn", () => {
  it("ends with the content so far, streams, and asks for what is left of the cap", () => {
    const messages = [...base.messages, { role: "assistant", content }];
    assert.deepEqual(bodyOf({ ...base, system: "s", stream: true }), {
      ...base,
      system: "s",
      messages,
      max_tokens: 3_700,
      stream: true,
    });
  });

  it("leaves every other byte as it was", () => {
    const request = `{"messages" : [ {"role":"user","content":"\\u00e9 1e3"} ] ,"seed":123456789012345678901,"max_tokens":400}`;
    const text = continuedBody(Buffer.from(request), answered)?.bytes.toString();
    const message = JSON.stringify({ role: "assistant", content });
    assert.equal(
      text,
      `{"messages" : [ {"role":"user","content":"\\u00e9 1e3"},${message}] ,"seed":123456789012345678901,"max_tokens":100,"stream":true}`,
    );
  });

  for (const row of [
    { name: "a budget shrinks as the cap does", budget: 2_000, cap: 4_000, used: 1_000, want: 1_500 },
    { name: "a budget is never less than the provider takes", budget: 1_200, cap: 4_000, used: 2_000, want: 1_024 },
    { name: "nothing goes on where the least budget does not fit", budget: 2_000, cap: 4_000, used: 3_000 },
    { name: "nothing goes on at the cap", cap: 4_000, used: 4_000 },
    { name: "nothing goes on beyond the cap", cap: 4_000, used: 4_100 },
  ]) {
    it(row.name, () => {
      const thinking = row.budget === undefined ? {} : { thinking: { type: "enabled", budget_tokens: row.budget } };
      const body = bodyOf({ ...base, max_tokens: row.cap, ...thinking }, { outputTokens: row.used });
      const { budget_tokens: budget } = Object(body?.["thinking"]);
      assert.equal(budget, row.want);
      assert.equal(body !== undefined, row.want !== undefined);
    });
  }

  it("leaves thinking without a budget as it is", () => {
    const thinking = { type: "adaptive" };
    assert.deepEqual(bodyOf({ ...base, thinking })?.["thinking"], thinking);
  });

  it("names the container that was used, unless the request names one", () => {
    assert.equal(bodyOf(base, { containerId: "c1" })?.["container"], "c1");
    assert.equal(bodyOf({ ...base, container: "c0" }, { containerId: "c1" })?.["container"], "c0");
  });

  it("does not force any tool again where the provider runs all", () => {
    const search = { type: "web_search_20250305", name: "web_search" };
    const choice = { tool_choice: { type: "any" } };
    assert.deepEqual(bodyOf({ ...base, tools: [search], ...choice })?.["tool_choice"], { type: "auto" });
    const mixed = [search, { name: "answer", input_schema: {} }];
    assert.deepEqual(bodyOf({ ...base, tools: mixed, ...choice })?.["tool_choice"], { type: "any" });
  });

  const tools = [
    { type: "web_search_20250305", name: "web_search" },
    { name: "lookup", input_schema: {} },
  ];
  for (const [name, want] of [
    ["web_search", { type: "auto" }],
    ["lookup", { type: "tool", name: "lookup" }],
  ] as const) {
    it(`does not force ${name} again if the provider runs it`, () => {
      assert.deepEqual(bodyOf({ ...base, tools, tool_choice: { type: "tool", name } })?.["tool_choice"], want);
    });
  }
});
