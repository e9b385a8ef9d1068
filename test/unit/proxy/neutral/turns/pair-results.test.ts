import assert from "node:assert/strict";
import type { Part, Turn } from "#proxy/neutral/conversation";
import { pairResults } from "#proxy/neutral/turns/pair-results";

const text = (content: string): Part => ({ kind: "text", text: content });
const call = (id: string, name = "f"): Part => ({ kind: "call", id, name, tool: "function", arguments: "{}" });
const result = (callId: string, content = "ok"): Part => ({
  kind: "result",
  callId,
  content: [{ kind: "text", text: content }],
});
const failed = (content: string): Part => ({
  kind: "result",
  callId: "z",
  content: [{ kind: "text", text: content }],
  isError: true,
});
const user = (...parts: Part[]): Turn => ({ role: "user", parts });
const assistant = (...parts: Part[]): Turn => ({ role: "assistant", parts });
const tool = (...parts: Part[]): Turn => ({ role: "tool", parts });

/** A turn in one line: its role and what its parts are. */
function sketch(turns: readonly Turn[]): string[] {
  return turns.map(({ role, parts }) => `${role}: ${parts.map(sketchPart).join(" ")}`);
}

function sketchPart(part: Part): string {
  if (part.kind === "text") return part.text;
  if (part.kind === "call") return `call(${part.id})`;
  if (part.kind === "media") return part.media;
  if (part.kind !== "result") return part.kind;
  const content = part.content.map((inner) => (inner.kind === "text" ? inner.text : inner.media)).join("+");
  return `${part.isError === true ? "error" : "result"}(${part.callId}=${content})`;
}

describe("pairResults()", () => {
  for (const row of [
    {
      name: "leaves turns without tools alone",
      turns: [user(text("a")), assistant(text("b"))],
      want: ["user: a", "assistant: b"],
    },
    {
      name: "gathers the results of one run of assistant turns in the order of the calls",
      turns: [assistant(call("a")), assistant(call("b")), tool(result("b", "2")), tool(result("a", "1"))],
      want: ["assistant: call(a)", "assistant: call(b)", "tool: result(a=1) result(b=2)"],
    },
    {
      name: "moves a result that comes after text of the user to its call",
      turns: [assistant(call("a")), user(text("wait")), tool(result("a")), user(text("go"))],
      want: ["assistant: call(a)", "tool: result(a=ok)", "user: wait", "user: go"],
    },
    {
      name: "takes results out of a turn of the user and keeps its text",
      turns: [assistant(call("a")), user(text("x"), result("a"), text("y"))],
      want: ["assistant: call(a)", "tool: result(a=ok)", "user: x y"],
    },
    {
      name: "gives a call without a result an error",
      turns: [assistant(call("a"), call("b")), tool(result("b")), user(text("go"))],
      want: ["assistant: call(a) call(b)", "tool: error(a=[no result]) result(b=ok)", "user: go"],
    },
    {
      name: "turns a result without a call into text of the user",
      turns: [user(text("hi")), tool(result("z", "lost")), assistant(text("b"))],
      want: ["user: hi", "user: [tool result] lost", "assistant: b"],
    },
    {
      name: "says of a result without a call that its tool failed, once",
      turns: [tool(failed("boom"), failed("Error: no such file")), assistant(text("b"))],
      want: ["user: [tool result] Error: boom [tool result] Error: no such file", "assistant: b"],
    },
    {
      name: "takes a result that stands before its call for one without a call",
      turns: [tool(result("a", "early")), assistant(call("a"))],
      want: ["user: [tool result] early", "assistant: call(a)", "tool: error(a=[no result])"],
    },
    {
      name: "keeps the last of several results for one call",
      turns: [assistant(call("a")), tool(result("a", "1"), result("a", "2"))],
      want: ["assistant: call(a)", "tool: result(a=2)"],
    },
    {
      name: "pairs an id that is used again with the nearest call before it",
      turns: [assistant(call("a")), tool(result("a", "1")), assistant(call("a")), tool(result("a", "2"))],
      want: ["assistant: call(a)", "tool: result(a=1)", "assistant: call(a)", "tool: result(a=2)"],
    },
    {
      name: "pairs two calls of one id in one turn by order",
      turns: [assistant(call("a"), call("a")), tool(result("a", "1"), result("a", "2"))],
      want: ["assistant: call(a) call(a)", "tool: result(a=1) result(a=2)"],
    },
    {
      name: "puts results in front of a system turn that stands between them and their call",
      turns: [assistant(call("a")), { role: "system", parts: [text("s")] } as const, tool(result("a"))],
      want: ["assistant: call(a)", "tool: result(a=ok)", "system: s"],
    },
  ]) {
    it(row.name, () => assert.deepEqual(sketch(pairResults(row.turns)), row.want));
  }

  it("keeps pictures of a result without a call and names its tool", () => {
    const orphan: Part = {
      kind: "result",
      callId: "z",
      name: "draw",
      content: [
        { kind: "text", text: "done" },
        { kind: "media", media: "image", source: { type: "url", url: "https://example.com/a.png" } },
      ],
    };
    assert.deepEqual(sketch(pairResults([tool(orphan)])), ["user: [tool result draw] done image"]);
  });

  it("gives a result the name of its call", () => {
    const [, answer] = pairResults([assistant(call("a", "weather")), tool(result("a"))]);
    const part = answer?.parts[0];
    assert.equal(part?.kind === "result" ? part.name : undefined, "weather");
  });
});
