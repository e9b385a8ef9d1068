import assert from "node:assert/strict";
import fc from "fast-check";
import { generateContentClientTranslator } from "#proxy/formats/generate-content/translate/client-translator";
import type { Conversation, Part, Turn } from "#proxy/neutral/conversation";
import { conversationOf, endpoint, openKeeper, targetOf, writeFor } from "./replay.ts";

/** The conversation of the golden examples: a picture, two tools, thinking, and a cap. */
const schemaOfG = {
  type: "object",
  properties: { x: { type: "integer", minimum: 0 } },
  required: ["x"],
  additionalProperties: false,
};
const asked: readonly Turn[] = [
  { role: "system", parts: [{ kind: "text", text: "S" }] },
  {
    role: "user",
    parts: [
      { kind: "text", text: "look" },
      { kind: "media", media: "image", mime: "image/png", source: { type: "data", base64: "iVBORw0KGgo=" } },
    ],
  },
];
const first: Conversation = conversationOf({
  stream: true,
  turns: asked,
  tools: [
    { kind: "function", name: "f", description: "F" },
    { kind: "function", name: "g", schema: schemaOfG },
  ],
  toolChoice: { type: "auto" },
  outputCap: 2000,
  sampling: { temperature: 0.5, stop: ["END"] },
  reasoning: { mode: "on", effort: "medium", show: true },
});
const body = {
  systemInstruction: { parts: [{ text: "S" }] },
  contents: [
    { role: "user", parts: [{ text: "look" }, { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } }] },
  ],
  tools: [
    {
      functionDeclarations: [
        { name: "f", description: "F" },
        { name: "g", parametersJsonSchema: schemaOfG },
      ],
    },
  ],
  toolConfig: { functionCallingConfig: { mode: "AUTO" } },
  generationConfig: {
    maxOutputTokens: 2000,
    temperature: 0.5,
    stopSequences: ["END"],
    thinkingConfig: { thinkingLevel: "MEDIUM", includeThoughts: true },
  },
};

/** The second request: what the model did, and what came of it. */
const signed = { type: "sealed", envelope: openKeeper.seal([{ kind: "thought-signature", data: "TSIG" }]) } as const;
const answered: readonly Turn[] = [
  {
    role: "assistant",
    parts: [
      { kind: "reasoning", text: "T" },
      { kind: "text", text: "Hi" },
      { kind: "call", id: "call_a", name: "f", tool: "function", arguments: "{}", states: [signed], isNativeId: true },
      { kind: "call", id: "call_b", name: "g", tool: "function", arguments: '{"x":1}', isNativeId: true },
    ],
  },
  {
    role: "tool",
    parts: [
      { kind: "result", callId: "call_a", content: [{ kind: "text", text: "1" }] },
      { kind: "result", callId: "call_b", content: [{ kind: "text", text: "boom" }], isError: true },
    ],
  },
];
const history = [
  {
    role: "model",
    parts: [
      { text: "Hi" },
      { functionCall: { id: "call_a", name: "f", args: {} }, thoughtSignature: "TSIG" },
      { functionCall: { id: "call_b", name: "g", args: { x: 1 } } },
    ],
  },
  {
    role: "user",
    parts: [
      { functionResponse: { id: "call_a", name: "f", response: { output: "1" } } },
      { functionResponse: { id: "call_b", name: "g", response: { error: "boom" } } },
    ],
  },
];

describe("generateContent and the golden requests", () => {
  it("G1: writes the first request", () => {
    const written = writeFor(first, targetOf("m"));
    assert.deepEqual(written.body, body);
    assert.deepEqual(written.dropped, []);
    assert.deepEqual(Object.keys(written.body), Object.keys(body));
    assert.deepEqual(written.adaptation, { refusesMalformedCall: true });
  });

  it("G1: writes it for a model of budgets", () => {
    const { body: got } = writeFor(first, targetOf("gemini-2.5-flash"));
    const thinkingConfig = { thinkingBudget: 8192, includeThoughts: true };
    assert.deepEqual(got, { ...body, generationConfig: { ...body.generationConfig, thinkingConfig } });
  });

  it("G1: writes it for a server that knows no JSON Schema", () => {
    const { body: got } = writeFor(first, targetOf("m", "GeminiCompatible"));
    assert.deepEqual(got["tools"], [
      {
        functionDeclarations: [
          { name: "f", description: "F" },
          {
            name: "g",
            parameters: { type: "OBJECT", properties: { x: { type: "INTEGER", minimum: 0 } }, required: ["x"] },
          },
        ],
      },
    ]);
  });

  it("G1: reads the first request", () => {
    const got = generateContentClientTranslator.readRequest(body, { ...endpoint, geminiStream: "sse" });
    assert.deepEqual(withoutPlaces(got), withoutPlaces(first));
  });

  it("G4: writes what the model did and what came of it", () => {
    const { body: got } = writeFor({ ...first, turns: [...asked, ...answered] }, targetOf("m"));
    assert.deepEqual(got, { ...body, contents: [...body.contents, ...history] });
  });

  it("G4: writes it without state: the first call of the step is signed with what Google documents", () => {
    const stateless = answered.map((turn) => ({ ...turn, parts: turn.parts.map(withoutState) }));
    const { body: got } = writeFor({ ...first, turns: [...asked, ...stateless] }, targetOf("m"));
    assert.ok(JSON.stringify(got).includes('"thoughtSignature":"skip_thought_signature_validator"'));
  });

  it("G4: reads what the model did and what came of it", () => {
    const got = generateContentClientTranslator.readRequest({ contents: [...body.contents, ...history] }, endpoint);
    const native = { type: "native", state: { kind: "thought-signature", data: "TSIG" } };
    const want = answered.map((turn) => ({
      ...turn,
      parts: turn.parts.flatMap((part): object[] => {
        if (part.kind === "reasoning") return [];
        if (part.kind === "result") return [{ ...part, name: part.callId === "call_a" ? "f" : "g" }];
        return [{ ...part, ...("states" in part ? { states: [native] } : {}) }];
      }),
    }));
    assert.deepEqual(withoutPlaces(got.turns.slice(1)), withoutPlaces(want));
  });

  it("keeps whatever it can say: written, then read", () => {
    fc.assert(
      fc.property(anyConversation(), (conversation) => {
        const { body: written } = writeFor(conversation, targetOf("gemini-3.5-flash"));
        const got = generateContentClientTranslator.readRequest(written, endpoint);
        assert.deepEqual(withoutPlaces(got), withoutPlaces(conversation));
      }),
    );
  });
});

/** Paths in the client's body differ, absent members do not count. */
function withoutPlaces(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, member) => (name === "where" ? undefined : member)));
}

function withoutState(part: Part): Part {
  if (part.kind !== "call") return part;
  const { states: _states, ...rest } = part;
  return rest;
}

/** Conversations in which every member has a place in this format. */
function anyConversation(): fc.Arbitrary<Conversation> {
  const plain = { noNullPrototype: true } as const;
  const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
  const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/);
  const text = words.map((value): Part => ({ kind: "text", text: value }));
  const image = fc.constant<Part>({
    kind: "media",
    media: "image",
    mime: "image/png",
    source: { type: "data", base64: "iVBORw0KGgo=" },
  });
  const user = fc
    .array(fc.oneof(text, image), { minLength: 1, maxLength: 3 })
    .map((parts): Turn => ({ role: "user", parts }));
  const args = fc
    .dictionary(name, fc.oneof(words, fc.integer(), fc.boolean()), { maxKeys: 3 })
    .map((value) => JSON.stringify({ ...value }));
  const outcome = fc.record({ value: words, isError: fc.boolean() });
  const step = fc
    .tuple(words, fc.array(fc.tuple(name, args, outcome), { maxLength: 3 }))
    .map(([said, calls]): Turn[] => {
      const ids = calls.map((_call, index) => `id${index}`);
      const turns: Turn[] = [
        {
          role: "assistant",
          parts: [
            { kind: "text", text: said },
            ...calls.map(
              ([called, text], index): Part => ({
                kind: "call",
                id: ids[index] ?? "",
                name: called,
                tool: "function",
                arguments: text,
                isNativeId: true,
              }),
            ),
          ],
        },
      ];
      if (calls.length === 0) return turns;
      const parts = calls.map(
        ([called, , { value, isError }], index): Part => ({
          kind: "result",
          callId: ids[index] ?? "",
          name: called,
          content: [{ kind: "text", text: /^\s*\{/.test(value) ? `.${value}` : value }],
          ...(isError ? { isError } : {}),
        }),
      );
      return [...turns, { role: "tool", parts }];
    });
  return fc
    .record(
      {
        system: fc.option(words, { nil: undefined }),
        turns: fc.array(fc.tuple(user, step), { minLength: 1, maxLength: 3 }),
        last: user,
        temperature: fc.option(fc.constantFrom(0, 0.5, 2), { nil: undefined }),
        stop: fc.option(fc.array(words, { minLength: 1, maxLength: 5 }), { nil: undefined }),
        outputCap: fc.option(fc.nat(10_000), { nil: undefined }),
        effort: fc.option(fc.constantFrom("low", "medium", "high"), { nil: undefined }),
        isJson: fc.boolean(),
      },
      plain,
    )
    .map(({ system, turns, last, temperature, stop, outputCap, effort, isJson }) =>
      conversationOf({
        turns: [
          ...(system === undefined ? [] : [{ role: "system", parts: [{ kind: "text", text: system }] } as const]),
          ...turns.flatMap(([asks, does]) => [asks, ...does]),
          last,
        ],
        sampling: { temperature, stop },
        outputCap,
        reasoning: effort === undefined ? undefined : { mode: "on", effort, show: true },
        outputFormat: isJson ? { kind: "json" } : undefined,
      }),
    );
}
