import assert from "node:assert/strict";
import fc from "fast-check";
import { messagesClientTranslator } from "#proxy/formats/messages/translate/client-translator";
import type { Conversation, Part, Tool, Turn } from "#proxy/neutral/conversation";
import { conversation, endpoint, writeBody } from "#test/support/translation/messages-exchange";

const name = fc.constantFrom("f", "g", "a tool!");
const said = fc.record({ kind: fc.constant("text" as const), text: fc.string() });
const picture = fc.constant<Part>({
  kind: "media",
  media: "image",
  mime: "image/png",
  source: { type: "data", base64: "iVBORw0KGgo=" },
});
const called: fc.Arbitrary<Part> = fc.record({
  kind: fc.constant("call" as const),
  id: fc.constantFrom("a", "b", "c:d", ""),
  name,
  tool: fc.constant("function" as const),
  arguments: fc.oneof(
    fc.object({ maxDepth: 2 }).map((value) => JSON.stringify(value)),
    fc.constantFrom("", "[", "1"),
  ),
});
const answered: fc.Arbitrary<Part> = fc.record({
  kind: fc.constant("result" as const),
  callId: fc.constantFrom("a", "b", "c:d", ""),
  content: fc.array(said, { maxLength: 2 }),
  isError: fc.constantFrom(true, undefined),
});
const turn: fc.Arbitrary<Turn> = fc.oneof(
  fc.record({ role: fc.constant("user" as const), parts: fc.array(fc.oneof(said, picture), { maxLength: 3 }) }),
  fc.record({ role: fc.constant("assistant" as const), parts: fc.array(fc.oneof(said, called), { maxLength: 3 }) }),
  fc.record({ role: fc.constant("tool" as const), parts: fc.array(answered, { maxLength: 3 }) }),
  fc.record({ role: fc.constant("system" as const), parts: fc.array(said, { maxLength: 2 }) }),
);
const tool: fc.Arbitrary<Tool> = fc.record({
  kind: fc.constant("function" as const),
  name,
  description: fc.option(fc.string(), { nil: undefined }),
});
const given: fc.Arbitrary<Conversation> = fc
  .record({
    stream: fc.boolean(),
    turns: fc.array(turn, { maxLength: 8 }),
    tools: fc.array(tool, { maxLength: 3 }),
    parallelTools: fc.constantFrom(true, false, undefined),
    sampling: fc.record({
      temperature: fc.option(fc.double({ min: 0, max: 2, noNaN: true }), { nil: undefined }),
      topP: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
      stop: fc.option(fc.array(fc.string(), { maxLength: 3 }), { nil: undefined }),
    }),
    outputCap: fc.option(fc.nat(100_000), { nil: undefined }),
    reasoning: fc.option(
      fc.record({
        mode: fc.constantFrom("off", "auto", "on" as const),
        effort: fc.constantFrom("low", "high", "max", undefined),
        show: fc.boolean(),
      }),
      { nil: undefined },
    ),
    user: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
  })
  .map((changes) => conversation(changes));

const models = fc.constantFrom("claude-sonnet-4-5", "claude-opus-4-6", "claude-opus-4-8", "claude-3-5-haiku", "m");

/** Words of all texts in order, whatever turn they ended up in. */
function wordsOf(body: unknown): string[] {
  return [...JSON.stringify(body).matchAll(/"text":"((?:[^"\\]|\\.)*)"/g)].map(([, word]) => word ?? "");
}

describe("messages translator: round trips", () => {
  it("says the same when what was written is read and written again", () => {
    fc.assert(
      fc.property(given, models, (said, model) => {
        const once = writeBody(said, { model }).body;
        const read = messagesClientTranslator.readRequest(JSON.parse(JSON.stringify(once)), endpoint);
        assert.deepEqual(read.unmapped, []);
        const again = writeBody(read, { model });
        assert.deepEqual(again.dropped, []);
        assert.deepEqual(JSON.parse(JSON.stringify(again.body)), JSON.parse(JSON.stringify({ ...once, model })));
      }),
    );
  });

  it("writes bodies that keep the vendor's grammar, and every word", () => {
    fc.assert(
      fc.property(given, models, (said, model) => {
        const body: { messages: { role: string; content: unknown }[] } = JSON.parse(
          JSON.stringify(writeBody(said, { model }).body),
        );
        const { messages } = body;
        assert.equal(messages[0]?.role, "user");
        const sides = messages.filter(({ role }) => role !== "system");
        for (const [index, { role }] of sides.entries()) assert.equal(role, index % 2 === 0 ? "user" : "assistant");
        for (const [index, message] of messages.entries()) checkMessage(message, messages[index + 1]);
        const words = new Set(wordsOf(body));
        for (const { role, parts } of said.turns) {
          for (const part of parts) {
            if (role === "system" || part.kind !== "text" || part.text.trim() === "") continue;
            const word = JSON.stringify(part.text).slice(1, -1);
            const isContinued = messages.at(-1)?.role === "assistant";
            const bare = messages.some(
              ({ content }) => content === part.text || (isContinued && content === part.text.trimEnd()),
            );
            assert.ok(bare || words.has(word) || isContinued, word);
          }
        }
      }),
    );
  });
});

function checkMessage(message: { role: string; content: unknown }, next: { content: unknown } | undefined): void {
  if (typeof message.content === "string") {
    assert.notEqual(message.content.trim(), "");
    return;
  }
  const blocks: { type: string; id?: string; text?: string; tool_use_id?: string }[] = Array.isArray(message.content)
    ? message.content
    : [];
  assert.ok(blocks.length > 0);
  for (const block of blocks) if (block.type === "text") assert.notEqual(block.text?.trim(), "");
  const calls = blocks.flatMap(({ type, id }) => (type === "tool_use" ? [id] : []));
  const following = Array.isArray(next?.content) ? next.content : [];
  const results = following.slice(0, calls.length).map(({ tool_use_id: id }: { tool_use_id: string }) => id);
  assert.deepEqual(results, calls);
}
