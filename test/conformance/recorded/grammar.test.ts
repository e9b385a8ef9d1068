/** Shows that the check of a stream's grammar sees what it is for: a judge that never objects proves nothing. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { dataEvents, namedEvents } from "#test/support/calls/run-filter";
import type { DigestProtocol } from "#test/support/digest/facts";
import { checkGrammar } from "#test/support/digest/grammar";

const chunk = (fields: object) => ({ id: "c", object: "chat.completion.chunk", ...fields });
const role = chunk({ choices: [{ index: 0, delta: { role: "assistant" }, finish_reason: null }] });
const finish = chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
const created = { type: "response.created", sequence_number: 0 };
const added = { type: "response.output_item.added", sequence_number: 1 };
const done = { type: "response.output_item.done", sequence_number: 2 };
const completed = { type: "response.completed", sequence_number: 3 };
const start = { type: "message_start" };
const open = { type: "content_block_start", index: 0 };
const stop = { type: "content_block_stop", index: 0 };
const end = [{ type: "message_delta" }, { type: "message_stop" }];

describe("grammar of streams", () => {
  for (const row of [
    { protocol: "openai-chat", stream: dataEvents(role, finish, "[DONE]") },
    { protocol: "openai-responses", stream: namedEvents(created, added, done, completed) },
    { protocol: "anthropic-messages", stream: namedEvents(start, open, stop, ...end) },
    { protocol: "gemini", stream: dataEvents({ candidates: [] }) },
  ] as const) {
    it(`has nothing against a clean stream of ${row.protocol}`, () =>
      assert.deepEqual(checkGrammar(row.protocol, Buffer.from(row.stream)), []));
  }

  const broken: readonly { name: string; protocol: DigestProtocol; stream: string; says: string }[] = [
    { name: "no [DONE]", protocol: "openai-chat", stream: dataEvents(role, finish), says: "no [DONE]" },
    { name: "no finish", protocol: "openai-chat", stream: dataEvents(role, "[DONE]"), says: "0 finish reasons" },
    {
      name: "a second id",
      protocol: "openai-chat",
      stream: dataEvents(role, { ...finish, id: "d" }, "[DONE]"),
      says: "more than one id",
    },
    {
      name: "an event's name",
      protocol: "openai-chat",
      stream: `event: x\n${dataEvents(role, finish, "[DONE]")}`,
      says: "an event line",
    },
    {
      name: "a stray line",
      protocol: "gemini",
      stream: `${dataEvents({ candidates: [] })}{"error":{}}\n`,
      says: 'a stray line: {"error":{}}',
    },
    {
      name: "no blank line",
      protocol: "gemini",
      stream: dataEvents({ candidates: [] }).trimEnd(),
      says: "no blank line at the end",
    },
    {
      name: "a chunk that says nothing",
      protocol: "gemini",
      stream: dataEvents({ x: 1 }),
      says: "a chunk that is neither a reply nor an error",
    },
    {
      name: "a gap",
      protocol: "openai-responses",
      stream: namedEvents(created, completed),
      says: "a gap in sequence_number",
    },
    {
      name: "an item that is never done",
      protocol: "openai-responses",
      stream: namedEvents(created, added, { ...done, type: "response.completed" }),
      says: "items added and done do not balance",
    },
    {
      name: "no terminal event",
      protocol: "openai-responses",
      stream: namedEvents(created, added, done),
      says: "no terminal event at the end",
    },
    {
      name: "[DONE] where none belongs",
      protocol: "openai-responses",
      stream: namedEvents(created, added, done, completed) + dataEvents("[DONE]"),
      says: "[DONE]",
    },
    {
      name: "two beginnings",
      protocol: "anthropic-messages",
      stream: namedEvents(start, start, open, stop, ...end),
      says: "2 message_start",
    },
    {
      name: "a block that does not stop",
      protocol: "anthropic-messages",
      stream: namedEvents(start, open, ...end),
      says: "a block is not stopped",
    },
    {
      name: "no end",
      protocol: "anthropic-messages",
      stream: namedEvents(start, open, stop),
      says: "no message_stop at the end",
    },
  ];
  for (const row of broken) {
    it(`sees ${row.name} in ${row.protocol}`, () => {
      const problems = checkGrammar(row.protocol, Buffer.from(row.stream));
      assert.equal(problems.includes(row.says), true, problems.join("; "));
    });
  }
});
