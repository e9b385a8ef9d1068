import assert from "node:assert/strict";
import type { Part, Role, Turn } from "#proxy/neutral/conversation";
import { demoteSystem } from "#proxy/neutral/turns/demote-system";

const turn = (role: Role, ...texts: string[]): Turn => ({
  role,
  parts: texts.map((text): Part => ({ kind: "text", text })),
});
const results: Turn = { role: "tool", parts: [{ kind: "result", callId: "a", content: [] }] };

function sketch(turns: readonly Turn[]): string[] {
  return turns.map(({ role, parts }) =>
    [role, ...parts.map((part) => (part.kind === "text" ? part.text.replaceAll("\n", "") : part.kind))].join(" "),
  );
}

describe("demoteSystem()", () => {
  for (const row of [
    {
      name: "leaves the leading run alone",
      turns: [turn("system", "a"), turn("system", "b"), turn("user", "c")],
      want: ["system a", "system b", "user c"],
    },
    {
      name: "pitfall 105: marks later system text in front of the text of the user turn that follows",
      turns: [turn("system", "top"), turn("user", "a"), turn("assistant", "b"), turn("system", "s"), turn("user", "c")],
      want: ["system top", "user a", "assistant b", "user <system>s</system> c"],
    },
    {
      name: "keeps its place in front of an assistant turn",
      turns: [turn("user", "a"), turn("system", "s"), turn("assistant", "b")],
      want: ["user a", "user <system>s</system>", "assistant b"],
    },
    {
      name: "adds a user turn at the end",
      turns: [turn("user", "a"), turn("assistant", "b"), turn("system", "s")],
      want: ["user a", "assistant b", "user <system>s</system>"],
    },
    {
      name: "stays behind the results of a tool",
      turns: [turn("assistant", "b"), turn("system", "s"), results, turn("user", "c")],
      want: ["assistant b", "tool result", "user <system>s</system> c"],
    },
    {
      name: "stays behind results that stand in the user turn",
      turns: [
        turn("assistant", "b"),
        turn("system", "s"),
        { role: "user", parts: [...results.parts, { kind: "text", text: "c" }] } as const,
      ],
      want: ["assistant b", "user result <system>s</system> c"],
    },
    {
      name: "drops later system text that says nothing",
      turns: [turn("user", "a"), turn("system", " "), turn("assistant", "b")],
      want: ["user a", "assistant b"],
    },
  ]) {
    it(row.name, () => assert.deepEqual(sketch(demoteSystem(row.turns)), row.want));
  }

  it("pitfall 135: asks for the neighbours of a run and keeps an allowed run as one turn", () => {
    const turns = [turn("user", "a"), turn("system", "s"), turn("system", "t"), turn("assistant", "b")];
    const allowed = demoteSystem(turns, (previous, next) => previous?.role === "user" && next?.role === "assistant");
    assert.deepEqual(sketch(allowed), ["user a", "system s t", "assistant b"]);
  });
});
