import assert from "node:assert/strict";
import type { Role, Turn } from "#proxy/neutral/conversation";
import { mergeTurns } from "#proxy/neutral/turns/merge-turns";

const turn = (role: Role, text: string): Turn => ({ role, parts: [{ kind: "text", text }] });

function sketch(turns: readonly Turn[]): string[] {
  return turns.map(({ role, parts }) =>
    [role, ...parts.map((part) => (part.kind === "text" ? part.text : part.kind))].join(" "),
  );
}

describe("mergeTurns()", () => {
  for (const row of [
    {
      name: "keeps alternating turns",
      turns: [turn("user", "a"), turn("assistant", "b")],
      want: ["user a", "assistant b"],
    },
    {
      name: "joins neighbours of one role",
      turns: [turn("assistant", "a"), turn("assistant", "b"), turn("user", "c")],
      want: ["assistant a b", "user c"],
    },
    {
      name: "counts tool results to the user",
      turns: [turn("tool", "a"), turn("user", "b"), turn("tool", "c")],
      want: ["user a b c"],
    },
    {
      name: "keeps a run of tool turns a tool turn",
      turns: [turn("tool", "a"), turn("tool", "b")],
      want: ["tool a b"],
    },
  ]) {
    it(row.name, () => assert.deepEqual(sketch(mergeTurns(row.turns)), row.want));
  }

  it("joins by the given side", () => {
    const turns = [turn("tool", "a"), turn("user", "b"), turn("user", "c")];
    assert.deepEqual(sketch(mergeTurns(turns, ({ role }) => role)), ["tool a", "user b c"]);
  });
});
