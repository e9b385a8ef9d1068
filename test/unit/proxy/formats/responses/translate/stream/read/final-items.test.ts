import assert from "node:assert/strict";
import {
  added,
  blocksOf,
  call,
  completed,
  delta,
  done,
  factsOf,
  message,
  said,
} from "#test/support/translation/responses-events";

const thoughts = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "ENC" };
const answer = said("The answer.");
const first = { ...call, arguments: '{"x":1}' };
const second = { ...call, id: "fc_2", call_id: "call_2", arguments: '{"x":2}' };
const nameless = { type: "message", role: "assistant", content: [{ type: "output_text", text: "a" }] };

describe("responses: which items of the final response the stream has brought", () => {
  for (const row of [
    {
      name: "a call is not made twice where a relay hides the thoughts before it",
      events: [
        added(1, call),
        delta(1, first.arguments, "function_call_arguments"),
        done(1, first),
        completed([thoughts, first]),
      ],
      want: ['call call_1 f {"x":1}', "reasoning "],
    },
    {
      name: "a call that was left open is finished by its own item",
      events: [added(1, call), completed([thoughts, first])],
      want: ['call call_1 f {"x":1}', "reasoning "],
    },
    {
      name: "text is not said twice where a relay hides the thoughts before it",
      events: [added(1, message), delta(1, "The answer."), done(1, answer), completed([thoughts, answer])],
      want: ["text The answer.", "reasoning "],
    },
    {
      name: "nor where ids change on the way, for the places agree",
      events: [
        added(1, { ...message, id: "a" }),
        done(1, { ...answer, id: "b" }),
        completed([thoughts, { ...answer, id: "c" }]),
      ],
      want: ["text The answer.", "reasoning "],
    },
    {
      name: "an id that came with the end counts as well",
      events: [
        added(3, { ...message, id: "a" }),
        done(3, { ...answer, id: "msg_2" }),
        completed([said("Another."), { ...answer, id: "msg_2" }]),
      ],
      want: ["text The answer.", "text Another."],
    },
    {
      name: "thoughts that only the stream has do not move what follows them",
      events: [
        added(0, { ...thoughts, encrypted_content: "" }),
        delta(0, "T", "reasoning_text"),
        added(1, message),
        delta(1, "The "),
        completed([answer]),
      ],
      want: ["reasoning T", "text The answer."],
    },
    {
      name: "a call of its own id is new, whatever was at its place",
      events: [added(0, call), done(0, first), completed([first, second])],
      want: ['call call_1 f {"x":1}', 'call call_2 f {"x":2}'],
    },
    {
      name: "calls that come in another order keep their arguments",
      events: [added(0, call), added(1, { ...second, arguments: "" }), completed([second, first])],
      want: ['call call_1 f {"x":1}', 'call call_2 f {"x":2}'],
    },
    {
      name: "a call of another name is another call",
      events: [added(0, call), done(0, first), completed([{ ...second, name: "g" }])],
      want: ['call call_1 f {"x":1}', 'call call_2 g {"x":2}'],
    },
    {
      name: "a call that came without its name is known by its id",
      events: [added(2, { ...call, name: "" }), completed([second, first])],
      want: ['call call_1 f {"x":1}', 'call call_2 f {"x":2}'],
    },
    {
      name: "a call without name and id is known by its kind",
      events: [added(1, { type: "function_call" }), completed([thoughts, first])],
      want: ['call call_1 f {"x":1}', "reasoning "],
    },
    {
      name: "without ids and equal places, items are those of their kind in order",
      events: [
        added(5, { ...nameless, content: [] }),
        done(5, nameless),
        completed([nameless, { ...nameless, content: [{ type: "output_text", text: "b" }] }]),
      ],
      want: ["text a", "text b"],
    },
    {
      name: "one id for all items makes none of them disappear",
      events: [added(0, message), done(0, said("a")), completed([said("a"), said("b")])],
      want: ["text a", "text b"],
    },
    {
      name: "a message that nobody announced is known by the id of its pieces",
      events: [{ ...delta(4, "a"), item_id: "msg_1" }, completed([{ ...said("b"), id: "msg_0" }, said("ab")])],
      want: ["text ab", "text b"],
    },
  ]) {
    it(row.name, () => assert.deepEqual(factsOf(blocksOf(...row.events)), row.want));
  }
});
