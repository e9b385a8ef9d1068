import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import type { Turn } from "#proxy/neutral/conversation";
import { conversationOf } from "#test/support/translation/chat-exchange";

const png = "data:image/png;base64,iVBORw0KGgo=";

/** Without the paths, which have their own test, and without members that are undefined. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, member) => (name === "where" ? undefined : member)));
}

function turnsOf(...messages: unknown[]): readonly Turn[] {
  return conversationOf({ messages }).turns;
}

const text = (value: string) => ({ kind: "text", text: value });
const call = (id: string, name: string, args: string, more: object = {}) => ({
  kind: "call",
  id,
  name,
  tool: "function",
  arguments: args,
  ...more,
});

describe("readMessages(): results", () => {
  const calling = (...ids: (string | undefined)[]) => ({
    role: "assistant",
    tool_calls: ids.map((id, index) => ({
      id,
      type: "function",
      function: { name: index === 1 ? "g" : "f", arguments: "{}" },
    })),
  });
  const resultsOf = (...messages: object[]) =>
    turnsOf(...messages)
      .flatMap(({ parts }) => parts)
      .filter((part) => part.kind === "result")
      .map(({ callId, name, content }) => [
        callId,
        name,
        content.map((part) => (part.kind === "text" ? part.text : part.media)),
      ]);

  it("belong to the call of their id", () => {
    assert.deepEqual(
      resultsOf(
        calling("a", "b"),
        { role: "tool", tool_call_id: "b", content: "2" },
        { role: "tool", tool_call_id: "a", content: "1" },
      ),
      [
        ["b", "g", ["2"]],
        ["a", "f", ["1"]],
      ],
    );
  });

  it("pitfall 59: empty and missing ids become ids of our own, paired by order", () => {
    assert.deepEqual(
      resultsOf(
        calling("", undefined),
        { role: "tool", tool_call_id: "", content: "1" },
        { role: "tool", content: "2" },
      ),
      [
        ["call_unnamed_1", "f", ["1"]],
        ["call_unnamed_2", "g", ["2"]],
      ],
    );
  });

  it("pitfall 63: a result without an id belongs to the earliest waiting call of its name", () => {
    assert.deepEqual(resultsOf(calling("a", "b"), { role: "tool", name: "g", content: "2" }), [["b", "g", ["2"]]]);
  });

  it("pitfall 63: a result without id and call is refused by its path", () => {
    assert.throws(
      () => turnsOf({ role: "user", content: "hi" }, { role: "tool", content: "1" }),
      (error) =>
        error instanceof GatewayError &&
        error.code === "missing_parameter" &&
        error.param === "messages[1].tool_call_id",
    );
  });

  it("keep an id that no call has", () => {
    assert.deepEqual(resultsOf({ role: "tool", tool_call_id: "z", content: "1" }), [["z", undefined, ["1"]]]);
  });

  it("may hold pictures", () => {
    const content = [
      { type: "text", text: "seen" },
      { type: "image_url", image_url: { url: png } },
    ];
    assert.deepEqual(resultsOf(calling("a"), { role: "tool", tool_call_id: "a", content }), [
      ["a", "f", ["seen", "image"]],
    ]);
  });

  it("of the older form have a name in place of an id", () => {
    const [, turn, result] = turnsOf(
      { role: "user", content: "hi" },
      { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
      { role: "function", name: "f", content: "1" },
    );
    assert.deepEqual(plain(turn?.parts), [call("call_unnamed_1", "f", "{}")]);
    assert.equal(result?.role, "tool");
    assert.deepEqual(plain(result?.parts), [
      { kind: "result", callId: "call_unnamed_1", name: "f", content: [text("1")] },
    ]);
  });
});
