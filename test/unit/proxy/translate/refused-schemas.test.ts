/** Schemas that one vendor refuses and the others take: of tools and of outputs, from clients of every other format. */
import assert from "node:assert/strict";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { answerOf, formats, sendTo, streamOf } from "#test/support/translation/pure-translation";

const schemaOf: Readonly<Record<ChatWireFormat, (body: unknown) => unknown>> = {
  ChatCompletions: (body) => Object(body).tools[0].function.parameters,
  Responses: (body) => Object(body).tools[0].parameters,
  Messages: (body) => Object(body).tools[0].input_schema,
  GenerateContent: (body) => Object(body).tools[0].functionDeclarations[0].parametersJsonSchema,
};

const withTool: Readonly<Record<ChatWireFormat, (parameters: object) => object>> = {
  ChatCompletions: (parameters) => ({
    model: "m",
    messages: [{ role: "user", content: "hi" }],
    tools: [{ type: "function", function: { name: "f", parameters } }],
  }),
  Responses: (parameters) => ({
    model: "m",
    input: "hi",
    tools: [{ type: "function", name: "f", parameters, strict: false }],
  }),
  Messages: (parameters) => ({
    model: "m",
    max_tokens: 100,
    messages: [{ role: "user", content: "hi" }],
    tools: [{ name: "f", input_schema: parameters }],
  }),
  GenerateContent: (parameters) => ({
    contents: [{ role: "user", parts: [{ text: "hi" }] }],
    tools: [{ functionDeclarations: [{ name: "f", parametersJsonSchema: parameters }] }],
  }),
};

const withAnswer: Readonly<Partial<Record<ChatWireFormat, (schema: object) => object>>> = {
  ChatCompletions: (schema) => ({
    model: "m",
    messages: [{ role: "user", content: "hi" }],
    response_format: { type: "json_schema", json_schema: { name: "n", schema } },
  }),
  Responses: (schema) => ({
    model: "m",
    input: "hi",
    text: { format: { type: "json_schema", name: "n", schema } },
  }),
  Messages: (schema) => ({
    model: "m",
    max_tokens: 100,
    messages: [{ role: "user", content: "hi" }],
    output_config: { format: { type: "json_schema", schema } },
  }),
  GenerateContent: (schema) => ({
    contents: [{ role: "user", parts: [{ text: "hi" }] }],
    generationConfig: { responseMimeType: "application/json", responseJsonSchema: schema },
  }),
};

const openAI = ["ChatCompletions", "Responses"] as const;
/** A keyword of JSON Schemas, and no promise. */
const consequence: string = "then";
const list = { type: "array" };
const whole = { type: "array", items: {} };

describe("schemas that one vendor refuses", () => {
  for (const to of openAI) {
    for (const from of formats.filter((format) => format !== to)) {
      it(`pitfall 154: arrays in conditions have items (${from} to ${to})`, () => {
        const schema = (array: object) => ({
          type: "object",
          properties: { a: array },
          if: { properties: { a: array } },
          [consequence]: { properties: { b: array } },
          else: { properties: { b: { anyOf: [array] } } },
          dependentSchemas: { a: { properties: { b: array } } },
        });
        assert.deepEqual(schemaOf[to](Object(sendTo(to, from, withTool[from](schema(list)))).body), schema(whole));
      });

      it(`pitfall 154: a reply whose root is refused comes in a member, its arrays with items (${from} to ${to})`, () => {
        const schema = { type: "object", properties: { l: list }, not: { required: ["z"] } };
        const body = withAnswer[from]?.(schema) ?? {};
        const sent = Object(sendTo(to, from, body)).body;
        const asked = sent.response_format?.json_schema ?? sent.text.format;
        assert.equal(asked.schema.not, undefined);
        assert.deepEqual(asked.schema.properties.value.properties.l, whole);
        const told = JSON.stringify(answerOf(to, from, body, answers[to]('{"value":{"l":[1]}}')));
        assert.ok(told.includes('{\\"l\\":[1]}'), told);
      });
    }
  }

  it("pitfall 155: an argument that is not declared stays beside a declared one that gets its name", () => {
    const call = { name: "f", arguments: JSON.stringify({ $filter: "a", _filter: "b", _filter_: "c" }) };
    const sent = sendTo("Messages", "ChatCompletions", {
      ...withTool.ChatCompletions({ type: "object", properties: { $filter: { type: "string" } } }),
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", content: null, tool_calls: [{ id: "c", type: "function", function: call }] },
        { role: "tool", tool_call_id: "c", content: "ok" },
      ],
    });
    const { input } = Object(sent).body.messages[1].content[0];
    assert.deepEqual(input, { _filter: "a", _filter__: "b", _filter_: "c" });
  });

  const recursive = {
    type: "object",
    properties: { $and: { type: "array", items: { $ref: "#" } }, $eq: { type: "string" }, plain: { $ref: "#" } },
    required: ["$and"],
  };
  for (const from of formats.filter((format) => format !== "Messages")) {
    it(`pitfall 155: a schema that holds itself keeps its keys inside, and calls come back so (${from})`, () => {
      const body = withTool[from](recursive);
      const sent = Object(schemaOf.Messages(Object(sendTo("Messages", from, body)).body));
      assert.deepEqual(Object.keys(sent.properties), ["_and", "_eq", "plain"]);
      assert.deepEqual(sent.required, ["_and"]);
      const { $ref } = sent.properties["_and"].items;
      assert.equal(sent.properties.plain.$ref, $ref);
      const inside = sent.$defs[$ref.replace("#/$defs/", "")];
      assert.deepEqual(Object.keys(inside.properties), ["$and", "$eq", "plain"]);
      assert.equal(inside.properties.$and.items.$ref, $ref);
      const given = { _and: [{ $eq: "x", _and: 1 }], plain: { $and: [] } };
      const wanted = JSON.stringify({ $and: [{ $eq: "x", _and: 1 }], plain: { $and: [] } });
      const told = answerOf("Messages", from, body, {
        id: "m",
        type: "message",
        role: "assistant",
        model: "m",
        content: [{ type: "tool_use", id: "toolu_1", name: "f", input: given }],
        stop_reason: "tool_use",
        usage: { input_tokens: 1, output_tokens: 1 },
      });
      assert.ok(JSON.stringify(told).replaceAll("\\", "").includes(wanted));
      assert.ok(
        streamOf("Messages", from, body, streamed(JSON.stringify(given)))
          .replaceAll("\\", "")
          .includes('"$and"'),
      );
    });
  }
});

const answers: Readonly<Record<"ChatCompletions" | "Responses", (text: string) => object>> = {
  ChatCompletions: (content) => ({
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }),
  Responses: (text) => ({
    id: "r",
    object: "response",
    created_at: 1,
    model: "m",
    status: "completed",
    output: [
      { type: "message", id: "i", role: "assistant", content: [{ type: "output_text", text, annotations: [] }] },
    ],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  }),
};

/** A stream with one call whose arguments come in pieces of three characters. */
function streamed(given: string): string {
  const pieces = given.match(/.{1,3}/g) ?? [];
  const events = [
    {
      type: "message_start",
      message: {
        id: "m",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "toolu_1", name: "f", input: {} } },
    ...pieces.map((partial_json) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json },
    })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}
