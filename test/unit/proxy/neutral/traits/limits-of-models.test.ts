/** Caps of the tables and what a channel says of its models, for clients of every other format. */
import assert from "node:assert/strict";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { readTranslatableCall } from "#proxy/translate/translation";
import { callOf, formats, type SpecialTarget, translate } from "#test/support/translation/pure-translation";

const long: Readonly<Record<ChatWireFormat, object>> = {
  ChatCompletions: { model: "m", messages: [{ role: "user", content: "hi" }], max_tokens: 900_000 },
  Responses: { model: "m", input: "hi", max_output_tokens: 900_000 },
  Messages: { model: "m", max_tokens: 900_000, messages: [{ role: "user", content: "hi" }] },
  GenerateContent: {
    contents: [{ role: "user", parts: [{ text: "hi" }] }],
    generationConfig: { maxOutputTokens: 900_000 },
  },
};

function sent(to: ChatWireFormat, from: ChatWireFormat, body: object, special: SpecialTarget) {
  const translation = translate(readTranslatableCall(callOf(from, body, false)), to, "Ignore", special);
  const written = Object(JSON.parse(translation.upstreamCall.body.bytes.toString("utf8")));
  return { written, dropped: translation.dropped };
}

function capOf(body: Readonly<Record<string, unknown>>): unknown {
  const { max_completion_tokens, max_tokens, max_output_tokens, generationConfig } = body;
  return max_completion_tokens ?? max_tokens ?? max_output_tokens ?? Object(generationConfig).maxOutputTokens;
}

const caps: readonly (readonly [to: ChatWireFormat, model: string, cap: number])[] = [
  ["ChatCompletions", "gpt-3.5-turbo", 4096],
  ["ChatCompletions", "gpt-4-turbo", 4096],
  ["ChatCompletions", "gpt-4-0613", 8192],
  ["ChatCompletions", "gpt-4o-2024-05-13", 4096],
  ["ChatCompletions", "ft:gpt-4o-mini-2024-07-18:org::id", 16_384],
  ["ChatCompletions", "gpt-4.1-nano", 32_768],
  ["ChatCompletions", "o3-mini", 100_000],
  ["Responses", "gpt-5", 128_000],
  ["Responses", "gpt-5.4-mini", 128_000],
  ["Responses", "o1-mini", 65_536],
  ["Responses", "gpt-5-pro", 272_000],
  ["Messages", "claude-3-haiku-20240307", 4096],
  ["Messages", "claude-opus-4-1", 32_000],
  ["GenerateContent", "gemini-3-pro", 65_536],
  ["GenerateContent", "gemini-2.0-flash", 8192],
];

describe("limits of models", () => {
  for (const [to, model, cap] of caps) {
    for (const from of formats.filter((format) => format !== to)) {
      it(`pitfall 160: ${model} is asked for ${cap} tokens at most (${from} to ${to})`, () => {
        const { written, dropped } = sent(to, from, long[from], { model });
        assert.equal(capOf(written), cap);
        assert.equal(dropped.length, 1);
      });
    }
  }

  const models: NonNullable<SpecialTarget["models"]> = [
    { name: "team-*", traits: { like: "claude-opus-4-5", forcedTools: "Refused" } },
    { name: "fast-*", upstreamName: "deployment-*", traits: { like: "gpt-4.1" } },
  ];

  it("pitfall 160: a pattern of names of one's own is like a known model, at a compatible server too", () => {
    for (const to of ["ChatCompletions", "Responses"] as const) {
      const { written } = sent(to, "Messages", long.Messages, {
        provider: "OpenAICompatible",
        model: "deployment-7",
        models,
      });
      assert.equal(capOf(written), 32_768);
    }
  });

  for (const id of ["i".repeat(80), "call.1"]) {
    for (const to of ["ChatCompletions", "Responses"] as const) {
      it(`pitfall 159: ids are fitted for a name of one's own that is like OpenAI's, and else left (${to}, ${id.slice(0, 6)})`, () => {
        const body = {
          model: "m",
          max_tokens: 100,
          messages: [
            { role: "user", content: "hi" },
            { role: "assistant", content: [{ type: "tool_use", id, name: "f", input: {} }] },
            { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "ok" }] },
          ],
        };
        const own = { provider: "OpenAICompatible", models } as const;
        const { written } = sent(to, "Messages", body, { ...own, model: "deployment-7" });
        const ids = idsOf(written);
        assert.equal(ids.length, 2);
        assert.equal(new Set(ids).size, 1);
        assert.match(String(ids[0]), /^[a-zA-Z0-9_-]{1,64}$/);
        assert.deepEqual(idsOf(sent(to, "Messages", body, { ...own, model: "other" }).written), [id, id]);
      });
    }
  }

  it("pitfall 168: a reply whose schema cannot be closed is asked for in words where no tool may be forced", () => {
    const schema = { type: "object", additionalProperties: { type: "string" } };
    const bodies: readonly (readonly [ChatWireFormat, object])[] = [
      [
        "ChatCompletions",
        {
          model: "m",
          messages: [{ role: "user", content: "hi" }],
          response_format: { type: "json_schema", json_schema: { name: "n", schema, strict: true } },
        },
      ],
      [
        "Responses",
        { model: "m", input: "hi", text: { format: { type: "json_schema", name: "n", schema, strict: true } } },
      ],
      [
        "GenerateContent",
        {
          contents: [{ role: "user", parts: [{ text: "hi" }] }],
          generationConfig: { responseMimeType: "application/json", responseJsonSchema: schema },
        },
      ],
    ];
    for (const [from, body] of bodies) {
      const refusing = sent("Messages", from, body, { model: "team-a", models });
      assert.equal(refusing.written.tools, undefined);
      assert.equal(refusing.written.tool_choice, undefined);
      assert.ok(JSON.stringify(refusing.written.system).includes("JSON Schema"));
      assert.equal(refusing.dropped.length, from === "GenerateContent" ? 0 : 1);
      const taking = sent("Messages", from, body, { model: "claude-opus-4-5", models });
      assert.equal(taking.written.tool_choice.type, "tool");
      assert.deepEqual(taking.dropped, []);
    }
  });
});

function idsOf(body: {
  readonly messages?: readonly unknown[];
  readonly input?: readonly unknown[];
}): readonly unknown[] {
  return (body.messages ?? body.input ?? []).flatMap((item) => {
    const { call_id, tool_call_id, tool_calls } = Object(item);
    return [call_id, tool_call_id, tool_calls?.[0].id].filter((id) => id !== undefined);
  });
}
