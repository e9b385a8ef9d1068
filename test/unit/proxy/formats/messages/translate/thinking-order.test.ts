/** Thinking on its way through clients of other formats: it comes back before what it led to, and first of all. */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "#proxy/json/json-value";
import { answerOf, sendTo, smallestCalls } from "#test/support/translation/pure-translation";

const usage = { input_tokens: 1, output_tokens: 3 };
const thinking = (name: string) => ({ type: "thinking", thinking: name, signature: `SIG ${name}` });
const text = (said: string) => ({ type: "text", text: said });
const call = (id: string) => ({ type: "tool_use", id, name: "f", input: {} });
const user = (said: string) => ({ role: "user", parts: [{ text: said }] });
const hidden = { contents: [user("hi")] };

/** What the provider gets of its own reply with the next call of a generateContent client. */
function broughtBack(asked: JsonObject, content: readonly object[], isSplit: boolean): unknown {
  const reply = { id: "m", role: "assistant", content, stop_reason: "end_turn", usage };
  const answer = answerOf("Messages", "GenerateContent", asked, reply);
  const [candidate]: unknown[] = isObject(answer) && Array.isArray(answer["candidates"]) ? answer["candidates"] : [];
  const parts: unknown[] = Object(candidate).content.parts;
  const said = isSplit ? parts.map((part) => ({ role: "model", parts: [part] })) : [{ role: "model", parts }];
  const sent = sendTo("Messages", "GenerateContent", { ...asked, contents: [user("hi"), ...said, user("next")] });
  return "body" in sent ? Object(sent.body).messages[1].content : sent;
}

describe("thinking that comes back from a client of another format", () => {
  for (const row of [
    { name: "a text alone", content: [thinking("A"), text("a")] },
    { name: "a text and a call", content: [thinking("A"), text("a"), call("c1")] },
    { name: "thinking between calls", content: [thinking("A"), call("c1"), thinking("B"), call("c2")] },
    { name: "thinking behind the first call", content: [text("a"), call("c1"), thinking("B"), call("c2")] },
    {
      name: "thinking that is sealed",
      content: [{ type: "redacted_thinking", data: "R" }, thinking("A"), call("c1"), call("c2")],
    },
  ]) {
    for (const [shown, asked] of [
      ["shown", Object(smallestCalls.GenerateContent)],
      ["hidden", hidden],
    ] as const) {
      for (const isSplit of [false, true]) {
        it(`stands where it stood, ${shown}, ${isSplit ? "in pieces" : "whole"}: ${row.name}`, () => {
          assert.deepEqual(broughtBack(asked, row.content, isSplit), row.content);
        });
      }
    }
  }
});
