import assert from "node:assert/strict";
import fc from "fast-check";
import { GatewayError } from "#proxy/errors";
import { responsesClientTranslator } from "#proxy/formats/responses/translate/client-translator";
import { responsesUpstreamTranslator } from "#proxy/formats/responses/translate/upstream-translator";
import { isObject } from "#proxy/json/json-value";
import type { Conversation, Part, Turn } from "#proxy/neutral/conversation";
import { InvalidReply } from "#proxy/neutral/reply";
import { mergeTurns } from "#proxy/neutral/turns/merge-turns";
import { endpoint, writtenRequest } from "#test/support/translation/responses-exchange";

const text = fc.string({ minLength: 1, maxLength: 8, unit: "binary" });
const textPart: fc.Arbitrary<Part> = fc.record({ kind: fc.constant("text" as const), text });
const imagePart: fc.Arbitrary<Part> = fc.constantFrom<Part>(
  {
    kind: "media",
    media: "image",
    mime: "image/png",
    detail: "auto",
    source: { type: "data", base64: "iVBORw0KGgo=" },
  },
  { kind: "media", media: "image", detail: "low", source: { type: "url", url: "https://a.example/x.png" } },
  { kind: "media", media: "document", source: { type: "url", url: "https://a.example/x.pdf" } },
  { kind: "media", media: "audio", mime: "audio/wav", source: { type: "data", base64: "UklGRg==" } },
);

const userTurn: fc.Arbitrary<readonly Turn[]> = fc
  .array(fc.oneof(textPart, imagePart), { minLength: 1, maxLength: 3 })
  .map((parts) => [{ role: "user", parts }]);

/** Text, calls and their results; ids are made unique when the turns are put together. */
const assistantTurns: fc.Arbitrary<readonly Turn[]> = fc
  .record({
    said: fc.option(textPart, { nil: undefined }),
    calls: fc.array(fc.tuple(fc.boolean(), text), { maxLength: 3 }),
  })
  .map(({ said, calls }) => {
    const parts = calls.map(
      ([isCustom, answer], index): Part => ({
        kind: "call",
        id: `call_${index}`,
        name: isCustom ? "c" : "f",
        tool: isCustom ? "custom" : "function",
        arguments: isCustom ? answer : JSON.stringify({ answer }),
      }),
    );
    const results = calls.map(
      ([, answer], index): Part => ({
        kind: "result",
        callId: `call_${index}`,
        content: [{ kind: "text", text: answer }],
      }),
    );
    const turns: Turn[] = [];
    if (said !== undefined || parts.length > 0) {
      turns.push({ role: "assistant", parts: [...(said === undefined ? [] : [said]), ...parts] });
    }
    if (results.length > 0) turns.push({ role: "tool", parts: results });
    return turns;
  });

const sampling = fc.record(
  { temperature: fc.constantFrom(0, 0.5, 2), topP: fc.constantFrom(0, 1), topLogprobs: fc.constantFrom(0, 3) },
  { requiredKeys: [] },
);

const settings = fc.record(
  {
    outputCap: fc.integer({ min: 16, max: 1000 }),
    parallelTools: fc.boolean(),
    reasoning: fc.constantFrom<Conversation["reasoning"]>(
      { mode: "off" },
      { mode: "on", effort: "high", show: true, summary: "auto" },
      { mode: "on", effort: "low" },
    ),
    outputFormat: fc.constantFrom<Conversation["outputFormat"]>({
      kind: "schema",
      name: "n",
      schema: { type: "object", properties: {} },
      strict: false,
    }),
    verbosity: fc.constantFrom("low", "high"),
    user: text,
    metadata: fc.dictionary(fc.string({ minLength: 1 }), fc.string()),
    serviceTier: fc.constantFrom("flex", "priority"),
    store: fc.boolean(),
    promptCacheKey: text,
    toolChoice: fc.constantFrom<Conversation["toolChoice"]>(
      { type: "auto" },
      { type: "none" },
      { type: "required", only: ["f"] },
      { type: "named", name: "c" },
    ),
  },
  { requiredKeys: [] },
);

const noArguments = { type: "object", properties: {}, additionalProperties: false };

const conversations: fc.Arbitrary<Conversation> = fc
  .record({
    system: fc.option(text, { nil: undefined }),
    turns: fc.array(fc.oneof(userTurn, assistantTurns), { maxLength: 5 }),
    sampling,
    settings,
    stream: fc.boolean(),
  })
  .map(({ system, turns, sampling: sampled, settings: set, stream }) => ({
    model: "m",
    stream,
    turns: [
      ...(system === undefined ? [] : [{ role: "system", parts: [{ kind: "text", text: system }] } as const]),
      ...turns.flatMap((some, index) => some.map((turn) => withOwnIds(turn, index))),
    ],
    tools: [
      { kind: "function", name: "f", description: "F", schema: noArguments, strict: true },
      { kind: "custom", name: "c", description: "C" },
    ],
    sampling: { ...sampled, ...((sampled.topLogprobs ?? 0) > 0 ? { logprobs: true } : {}) },
    ...set,
    unmapped: [],
  }));

function withOwnIds(turn: Turn, index: number): Turn {
  const parts = turn.parts.map((part): Part => {
    if (part.kind === "call") return { ...part, id: `${part.id}_${index}` };
    return part.kind === "result" ? { ...part, callId: `${part.callId}_${index}` } : part;
  });
  return { ...turn, parts };
}

/** Without paths and absent members. The format has items and no turns: neighbours of one side are one. */
function plain(conversation: Conversation): unknown {
  const turns = mergeTurns(conversation.turns, ({ role }) => role);
  return JSON.parse(
    JSON.stringify({ ...conversation, turns }, (name, value) => (name === "where" ? undefined : value)),
  );
}

describe("responses translator: properties", () => {
  it("reads what it wrote as the same conversation", () => {
    fc.assert(
      fc.property(conversations, (conversation) => {
        const { body } = writtenRequest(conversation);
        const read = responsesClientTranslator.readRequest(body, endpoint);
        // Written out where the client left it open.
        assert.deepEqual(plain(read), plain({ ...conversation, store: conversation.store ?? false }));
      }),
      { numRuns: 400 },
    );
  });

  const members = fc.constantFrom(
    ...["type", "role", "content", "text", "id", "call_id", "name", "arguments", "output", "summary", "input", "part"],
    ...[
      "encrypted_content",
      "item",
      "response",
      "output_index",
      "content_index",
      "delta",
      "status",
      "annotations",
      "tools",
    ],
    ...[
      "image_url",
      "file_data",
      "input_audio",
      "incomplete_details",
      "usage",
      "instructions",
      "reasoning",
      "tool_choice",
    ],
  );
  const words = fc.constantFrom<unknown>(
    ...["message", "function_call", "reasoning", "user", "assistant", "input_text", "output_text", "input_image", ""],
    ...["function_call_output", "custom_tool_call", "refusal", "function", "completed", "namespace", "json_schema"],
  );
  const json = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      words,
      fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 2),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(members, tie("value"), { maxKeys: 6 }),
    ),
  })).value;

  it("refuses any body that it cannot read, and nothing worse", () => {
    fc.assert(
      fc.property(json, json, (input, rest) => {
        try {
          responsesClientTranslator.readRequest({ ...(isObject(rest) ? rest : {}), model: "m", input }, endpoint);
        } catch (error) {
          assert.ok(error instanceof GatewayError, String(error));
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("refuses any reply that it cannot read, and nothing worse", () => {
    fc.assert(
      fc.property(json, (value) => {
        try {
          responsesUpstreamTranslator.readReply(isObject(value) ? value : { output: value });
        } catch (error) {
          assert.ok(error instanceof InvalidReply, String(error));
        }
      }),
      { numRuns: 2000 },
    );
  });

  const types = fc.constantFrom(
    ...["created", "in_progress", "output_item.added", "output_item.done", "content_part.added", "content_part.done"],
    ...[
      "output_text.delta",
      "output_text.done",
      "refusal.delta",
      "function_call_arguments.delta",
      "completed",
      "failed",
    ],
    ...["reasoning_summary_text.delta", "output_text.annotation.added", "incomplete", "custom_tool_call_input.delta"],
  );

  it("refuses any events that it cannot read, and nothing worse; what it reads keeps the promises of a reader", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(types, fc.nat(2), json, json), { maxLength: 8 }), (events) => {
        const reader = responsesUpstreamTranslator.createStreamReader();
        const open = new Set<number>();
        let next = 0;
        try {
          for (const [type, output_index, item, rest] of events) {
            const data = JSON.stringify({
              ...(isObject(rest) ? rest : {}),
              type: `response.${type}`,
              output_index,
              item,
            });
            for (const event of reader.read({ name: undefined, data })) {
              if (event.type === "open") {
                assert.equal(event.part, next);
                next += 1;
                open.add(event.part);
              } else if (event.type === "close") assert.ok(open.delete(event.part));
              else if ("part" in event) assert.ok(open.has(event.part));
              else if (event.type === "finish") assert.equal(open.size, 0);
            }
          }
        } catch (error) {
          assert.ok(error instanceof InvalidReply, String(error));
        }
      }),
      { numRuns: 2000 },
    );
  });
});
