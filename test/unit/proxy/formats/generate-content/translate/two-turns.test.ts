import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { generateContentClientTranslator } from "#proxy/formats/generate-content/translate/client-translator";
import { isObject } from "#proxy/json/json-value";
import type { ProviderState, Turn } from "#proxy/neutral/conversation";
import type { ReplyEvent } from "#proxy/neutral/reply";
import { genaiGenerations } from "#test/support/official-clients";
import { contextOf, endpoint, openKeeper, streamOf } from "./replay.ts";

const thinking: ProviderState = { kind: "thinking", text: "T", signature: "SIG" };

/** A reply of another provider: it thinks, says something and calls two tools. */
const answer: readonly ReplyEvent[] = [
  { type: "start", id: "up", model: "other" },
  { type: "open", candidate: 0, part: 0, block: { kind: "reasoning" } },
  { type: "delta", candidate: 0, part: 0, text: "T" },
  { type: "state", candidate: 0, part: 0, state: thinking },
  { type: "close", candidate: 0, part: 0 },
  { type: "open", candidate: 0, part: 1, block: { kind: "text" } },
  { type: "delta", candidate: 0, part: 1, text: "he" },
  { type: "delta", candidate: 0, part: 1, text: "llo" },
  { type: "close", candidate: 0, part: 1 },
  ...["a", "b"].flatMap((id, index): ReplyEvent[] => [
    { type: "open", candidate: 0, part: 2 + index, block: { kind: "call", id, name: "f", tool: "function" } },
    { type: "delta", candidate: 0, part: 2 + index, text: '{"x":1}' },
    { type: "close", candidate: 0, part: 2 + index },
  ]),
  { type: "finish", candidate: 0, finish: { reason: "tool-calls" } },
  { type: "end" },
];

describe("two turns of a client of generateContent with another provider", () => {
  for (const { name, load } of genaiGenerations) {
    it(`pitfalls 145 and 146: the chat of ${name} brings back text, calls, results and sealed thinking`, async () => {
      const bodies: string[] = [];
      const server = createServer(async (request, response) => {
        let body = "";
        for await (const chunk of request) body += chunk;
        bodies.push(body);
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(streamOf(answer, contextOf({ reasoning: { mode: "on", show: true } })));
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      try {
        const { port } = server.address() as AddressInfo;
        const client = new (load())({ apiKey: "k", httpOptions: { baseUrl: `http://127.0.0.1:${port}` } });
        const chat = client.chats.create({ model: "m" });
        const results = ["1", "2"].map((output) => ({ functionResponse: { name: "f", response: { output } } }));
        for (const message of ["hi", results]) {
          for await (const _chunk of await chat.sendMessageStream({ message }));
        }
        assertBroughtBack(turnsOf(bodies[1] ?? ""));
      } finally {
        server.close();
      }
    });
  }
});

function turnsOf(text: string): readonly Turn[] {
  const body: unknown = JSON.parse(text);
  assert.ok(isObject(body));
  return generateContentClientTranslator.readRequest(body, endpoint).turns;
}

function assertBroughtBack(turns: readonly Turn[]): void {
  assert.deepEqual(
    turns.map(({ role, parts }) => [role, ...parts.map((part) => (part.kind === "text" ? part.text : part.kind))]),
    [
      ["user", "hi"],
      ["assistant", "reasoning", "hello", "call", "call"],
      ["tool", "result", "result"],
    ],
  );
  const calls = (turns[1]?.parts ?? []).flatMap((part) => (part.kind === "call" ? [part] : []));
  assert.deepEqual(
    calls.map((call) => openKeeper.recover(call)),
    [[thinking], []],
  );
  const answered = (turns[2]?.parts ?? []).map((part) => part.kind === "result" && part.callId);
  assert.deepEqual(
    answered,
    calls.map(({ id }) => id),
  );
}
