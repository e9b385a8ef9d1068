import assert from "node:assert/strict";
import type { FunctionTool, HostedTool, ToolChoice } from "#proxy/neutral/conversation";
import { Losses } from "#proxy/neutral/losses/losses";
import { allowedTools } from "#proxy/neutral/tools/allowed-tools";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { sendTo } from "#test/support/translation/pure-translation";

const f: FunctionTool = { kind: "function", name: "f" };
const g: FunctionTool = { kind: "function", name: "g" };
const search: HostedTool = { kind: "hosted", tool: "web-search", type: "web_search", where: "tools[2]" };
const own = [f, g];
const all = { own, hosted: [search] };
const some = (...only: readonly string[]): ToolChoice => ({ type: "auto", only });

describe("allowedTools()", () => {
  for (const row of [
    { name: "all without a choice among some", choice: { type: "required" }, heldBack: "none", want: all, dropped: [] },
    { name: "all where one is named", choice: { type: "named", name: "f" }, heldBack: "none", want: all, dropped: [] },
    { name: "all for a target that says the list", choice: some("f"), heldBack: "all", want: all, dropped: [] },
    {
      name: "no search for a target whose list holds back functions alone",
      choice: some("f"),
      heldBack: "own",
      want: { own, hosted: [] },
      dropped: ["tools[2]"],
    },
    {
      name: "the allowed ones alone for a target that holds nothing back",
      choice: some("f"),
      heldBack: "none",
      want: { own: [f], hosted: [] },
      dropped: ["tools[2]"],
    },
    {
      name: "a search that the choice names",
      choice: some("f", "web_search"),
      heldBack: "none",
      want: { own: [f], hosted: [search] },
      dropped: [],
    },
    {
      name: "a search alone, without functions that nothing would hold back",
      choice: some("web_search"),
      heldBack: "own",
      want: { own: [], hosted: [search] },
      dropped: [],
    },
    ...(["all", "own", "none"] as const).map((heldBack) => ({
      name: `nothing where no name fits (${heldBack} held back)`,
      choice: some("z"),
      heldBack,
      want: { own: [], hosted: [] },
      dropped: ["tool_choice", "tools[2]"],
    })),
  ] as const) {
    it(row.name, () => {
      const losses = new Losses("Ignore");
      const options = { heldBack: row.heldBack, losses, choiceField: "tool_choice" };
      assert.deepEqual(allowedTools(all, row.choice, options), row.want);
      assert.deepEqual(losses.dropped, row.dropped);
    });
  }

  it("takes a name for the client's own tool first", () => {
    const mine: FunctionTool = { kind: "function", name: "web_search" };
    const options = { heldBack: "none", losses: new Losses("Ignore"), choiceField: "tool_choice" } as const;
    const kept = allowedTools({ own: [mine], hosted: [search] }, some("web_search"), options);
    assert.deepEqual(kept, { own: [mine], hosted: [] });
  });

  it("loses nothing where there are no tools", () => {
    const losses = new Losses("Reject");
    const none = { own: [], hosted: [] };
    assert.deepEqual(allowedTools(none, some("f"), { heldBack: "none", losses, choiceField: "tool_choice" }), none);
  });
});

describe("a client that allows some of its tools", () => {
  const tools = [{ type: "function", name: "a" }, { type: "function", name: "b" }, { type: "web_search" }];
  const choice = (mode: string, name: string) => ({
    type: "allowed_tools",
    mode,
    tools: [{ type: "function", name }],
  });
  const sent = (to: ChatWireFormat, mode: string, name: string): string =>
    JSON.stringify(sendTo(to, "Responses", { model: "m", input: "x", tools, tool_choice: choice(mode, name) }));

  for (const to of ["Messages", "GenerateContent", "ChatCompletions"] as const) {
    for (const mode of ["auto", "required"]) {
      it(`${to}, ${mode}: no search goes beside them`, () => {
        const text = sent(to, mode, "a");
        assert.doesNotMatch(text, /search/i);
        assert.match(text, /"dropped":\["tools\[2\]"\]/);
      });
      it(`${to}, ${mode}: no tool goes where none is allowed, and the choice is declared`, () => {
        const text = sent(to, mode, "z");
        assert.doesNotMatch(text, /"tools":|search/i);
        assert.match(text, /"dropped":\[(?=.*"tool_choice")/);
      });
    }
  }

  for (const mode of ["auto", "required"]) {
    it(`Responses, ${mode}: no tool goes where none is allowed, and the choice is declared`, () => {
      const allowed = { mode, tools: [{ type: "function", function: { name: "z" } }] };
      const body = {
        model: "m",
        messages: [{ role: "user", content: "hi" }],
        tools: [{ type: "function", function: { name: "a" } }],
        tool_choice: { type: "allowed_tools", allowed_tools: allowed },
      };
      const text = JSON.stringify(sendTo("Responses", "ChatCompletions", body));
      assert.doesNotMatch(text, /"tools":/);
      assert.match(text, /"dropped":\["tool_choice"\]/);
    });
  }
});
