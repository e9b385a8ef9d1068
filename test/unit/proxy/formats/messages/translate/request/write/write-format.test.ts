import assert from "node:assert/strict";
import { messagesUpstreamTranslator } from "#proxy/formats/messages/translate/upstream-translator";
import type { JsonObject } from "#proxy/json/json-value";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import type { Conversation, FunctionTool, OutputFormat } from "#proxy/neutral/conversation";
import { replayReply } from "#proxy/neutral/replay-reply";
import { ReplyAdapter } from "#proxy/translate/adapt-reply";
import { conversation, system, text, user, writeBody } from "#test/support/translation/messages-exchange";

const schema: JsonObject = {
  type: "object",
  properties: { n: { type: "integer" } },
  required: ["n"],
  additionalProperties: false,
};
const f: FunctionTool = { kind: "function", name: "f" };
const old = { model: "claude-3-5-sonnet-20241022" };

function written(outputFormat: OutputFormat, more: Partial<Conversation> = {}, target = {}) {
  const { body, adaptation } = writeBody(conversation({ outputFormat, ...more }), target);
  const { tools, tool_choice: choice, output_config: config, system: words } = body;
  const { outputTool, unwrapMember, isFencedJson } = adaptation;
  return { tools, choice, config, words, outputTool, unwrapMember, isFencedJson };
}

const nothing = {
  tools: undefined,
  choice: undefined,
  config: undefined,
  words: undefined,
  outputTool: undefined,
  unwrapMember: undefined,
  isFencedJson: undefined,
};
const outputTool = { name: "gw_json", description: "Return the final answer.", input_schema: schema };
const single = { disable_parallel_tool_use: true };

describe("messages: writeRequest, output format", () => {
  it("G5: asks for a schema where the model keeps one", () => {
    assert.deepEqual(written({ kind: "schema", schema, strict: true, name: "out" }), {
      ...nothing,
      config: { format: { type: "json_schema", schema } },
    });
  });
  it("pitfall 83: asks for exactly one call of a tool where it does not (G5)", () => {
    assert.deepEqual(written({ kind: "schema", schema }, {}, old), {
      ...nothing,
      tools: [outputTool],
      choice: { type: "tool", name: "gw_json", ...single },
      outputTool: "gw_json",
    });
  });
  for (const taken of ["gw_json", "gw.json"]) {
    it(`asks for any call beside tools of the client's own, whose names it avoids: ${taken}`, () => {
      const {
        tools,
        choice,
        outputTool: name,
      } = written({ kind: "schema", schema }, { tools: [{ ...f, name: taken }] }, old);
      assert.equal(Object(tools).length, 2);
      assert.deepEqual(choice, { type: "any", ...single });
      assert.equal(name, "gw_json_");
    });
  }
  it("keeps the choice of one tool, and calls for the reply where no tool may be called", () => {
    const one = written({ kind: "schema", schema }, { tools: [f], toolChoice: { type: "named", name: "f" } }, old);
    assert.deepEqual(one.choice, { type: "tool", name: "f", ...single });
    const none = written({ kind: "schema", schema }, { tools: [f], toolChoice: { type: "none" } }, old);
    assert.deepEqual(none.choice, { type: "tool", name: "gw_json", ...single });
  });
  it("takes the arguments of that call for the reply (G5)", () => {
    const { adaptation } = writeBody(conversation({ outputFormat: { kind: "schema", schema } }), old);
    const message = {
      content: [{ type: "tool_use", id: "a", name: "gw_json", input: { n: 1 } }],
      stop_reason: "tool_use",
    };
    const adapter = new ReplyAdapter(adaptation, 10);
    const events = [...replayReply(messagesUpstreamTranslator.readReply(message))].flatMap((event) =>
      adapter.adapt(event),
    );
    const [candidate] = aggregateReply(events).candidates;
    const [block] = candidate?.blocks ?? [];
    assert.deepEqual(
      [block?.kind === "text" ? block.text : block?.kind, candidate?.finish.reason],
      ['{"n":1}', "stop"],
    );
  });
  it("takes what was wrapped out of the reply again", () => {
    const list = { type: "array", items: { type: "string" } };
    const { adaptation } = writeBody(conversation({ outputFormat: { kind: "schema", schema: list } }));
    const message = { content: [{ type: "text", text: '{"value":["a"]}' }], stop_reason: "end_turn" };
    const adapter = new ReplyAdapter(adaptation, 10);
    const events = [...replayReply(messagesUpstreamTranslator.readReply(message))].flatMap((event) =>
      adapter.adapt(event),
    );
    const [block] = aggregateReply(events).candidates[0]?.blocks ?? [];
    assert.equal(block?.kind === "text" ? block.text : undefined, '["a"]');
  });
  it("wraps a schema that is no object", () => {
    const list = { type: "array", items: { type: "string" } };
    const { config, unwrapMember } = written({ kind: "schema", schema: list });
    assert.deepEqual(Object(config).format.schema, {
      type: "object",
      properties: { value: list },
      required: ["value"],
      additionalProperties: false,
    });
    assert.equal(unwrapMember, "value");
  });
  it("asks for one of several words as a member, and takes it out again", () => {
    const { config, unwrapMember } = written({ kind: "enum", values: ["a", "b"] });
    assert.deepEqual(Object(config).format.schema.properties, { value: { type: "string", enum: ["a", "b"] } });
    assert.equal(unwrapMember, "value");
  });
  it("calls for a schema that cannot be closed by a tool, which takes any schema", () => {
    const open = { type: "object", properties: { map: { type: "object", additionalProperties: { type: "string" } } } };
    const { config, outputTool: name, tools } = written({ kind: "schema", schema: open, description: "a map" });
    assert.equal(config, undefined);
    assert.equal(name, "gw_json");
    assert.deepEqual(Object(tools)[0].input_schema, open);
    assert.equal(Object(tools)[0].description, "Return the final answer: a map");
  });
  it("asks for JSON without a schema in words, at the end of the system text", () => {
    const words = "Respond with one JSON object and nothing else.";
    assert.deepEqual(written({ kind: "json" }), { ...nothing, words, isFencedJson: true });
    const turns = [system(text("S")), user(text("hi"))];
    assert.deepEqual(written({ kind: "json" }, { turns }).words, [
      { type: "text", text: "S" },
      { type: "text", text: words },
    ]);
  });
});
