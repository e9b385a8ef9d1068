import assert from "node:assert/strict";
import fc from "fast-check";
import type { Conversation, FunctionTool, Part, Turn } from "#proxy/neutral/conversation";
import { conversationOf, writtenRequest } from "#test/support/translation/chat-exchange";

const text = fc.string({ minLength: 1, maxLength: 20 });
const name = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_-]{0,10}$/);
const textPart: fc.Arbitrary<Part> = fc.record({ kind: fc.constant("text" as const), text });
const media: fc.Arbitrary<Part> = fc.constantFrom<Part>(
  { kind: "media", media: "image", mime: "image/png", source: { type: "data", base64: "iVBORw0KGgo=" }, detail: "low" },
  { kind: "media", media: "image", source: { type: "url", url: "https://example.com/a.png" } },
  { kind: "media", media: "audio", mime: "audio/wav", source: { type: "data", base64: "UklGRiQAAABXQVZF" } },
  {
    kind: "media",
    media: "document",
    mime: "application/pdf",
    source: { type: "data", base64: "JVBERi0xLjcK" },
    filename: "a.pdf",
  },
);

interface Exchange {
  readonly said: readonly Part[];
  readonly answer: string;
  readonly calls: readonly { readonly name: string; readonly args: object; readonly result: string }[];
}

const exchange: fc.Arbitrary<Exchange> = fc.record({
  said: fc.array(fc.oneof(textPart, media), { minLength: 1, maxLength: 3 }),
  answer: fc.oneof(fc.constant(""), text),
  calls: fc.array(fc.record({ name, args: fc.dictionary(fc.string(), fc.jsonValue()), result: text }), {
    maxLength: 3,
  }),
});

/** Turns as a chat client's history has them: every call with its result, in order. */
function turnsOf(exchanges: readonly Exchange[]): Turn[] {
  return exchanges.flatMap(({ said, answer, calls }, round): Turn[] => {
    const id = (index: number) => `call_${round}_${index}`;
    const spoken: Part[] = answer === "" ? [] : [{ kind: "text", text: answer }];
    const made = calls.map(
      (call, index): Part => ({
        kind: "call",
        id: id(index),
        name: call.name,
        tool: "function",
        arguments: JSON.stringify(call.args),
      }),
    );
    const assistant: Turn[] =
      spoken.length + made.length > 0 ? [{ role: "assistant", parts: [...spoken, ...made] }] : [];
    const results = calls.map(
      (call, index): Turn => ({
        role: "tool",
        parts: [{ kind: "result", callId: id(index), name: call.name, content: [{ kind: "text", text: call.result }] }],
      }),
    );
    return [{ role: "user", parts: said }, ...assistant, ...results];
  });
}

const open = { type: "object", properties: { x: { type: "integer" } } };
const closed = { ...open, required: ["x"], additionalProperties: false };

const tool: fc.Arbitrary<FunctionTool> = fc
  .record({
    kind: fc.constant("function" as const),
    name,
    description: fc.option(text, { nil: undefined }),
    // Strict only where the schema is: elsewhere that is a loss.
    described: fc.constantFrom(
      { strict: false },
      { schema: open },
      { schema: open, strict: false },
      { schema: closed, strict: true },
    ),
  })
  .map(({ described, ...named }) => ({ ...named, ...described }));

const conversation: fc.Arbitrary<Conversation> = fc
  .record({
    system: fc.array(text, { maxLength: 2 }),
    exchanges: fc.array(exchange, { minLength: 1, maxLength: 3 }),
    tools: fc.uniqueArray(tool, { maxLength: 3, selector: ({ name: own }) => own }),
    temperature: fc.option(fc.double({ min: 0, max: 2, noNaN: true }), { nil: undefined }),
    stop: fc.option(fc.array(text, { minLength: 1, maxLength: 4 }), { nil: undefined }),
    outputCap: fc.option(fc.nat(), { nil: undefined }),
    effort: fc.option(fc.constantFrom("minimal" as const, "low" as const, "max" as const), { nil: undefined }),
    user: fc.option(text, { nil: undefined }),
    store: fc.option(fc.boolean(), { nil: undefined }),
    stream: fc.boolean(),
  })
  .map(({ system, exchanges, temperature, stop, effort, ...rest }) => ({
    ...rest,
    model: "m",
    turns: [
      ...system.map((said): Turn => ({ role: "system", parts: [{ kind: "text", text: said }] })),
      ...turnsOf(exchanges),
    ],
    sampling: { temperature, stop },
    reasoning: effort === undefined ? undefined : { mode: "on", effort, show: true },
    unmapped: [],
  }));

/** Without the paths of errors and without members that are undefined. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (member, held) => (member === "where" ? undefined : held)));
}

describe("chat completions requests", () => {
  it("mean the same when what was written of a conversation is read again", () => {
    fc.assert(
      fc.property(conversation, (said) => {
        const { body, dropped } = writtenRequest(said);
        assert.deepEqual(dropped, []);
        assert.deepEqual(plain(conversationOf(body)), plain(said));
      }),
      { numRuns: 300 },
    );
  });

  it("are written the same again", () => {
    fc.assert(
      fc.property(conversation, (said) => {
        const { body } = writtenRequest(said);
        assert.deepEqual(writtenRequest(conversationOf(body)).body, body);
      }),
    );
  });
});
