import assert from "node:assert/strict";
import type { HostedTool, Tool } from "#proxy/neutral/conversation";
import { Losses } from "#proxy/neutral/losses/losses";
import {
  type HostedAbility,
  hostedNames,
  hostedToolKind,
  keepTools,
  lastSearch,
} from "#proxy/neutral/tools/hosted-tools";
import { refusalOf } from "#test/support/calls/read-body";

describe("hostedToolKind()", () => {
  for (const row of [
    { format: "Responses", type: "web_search_preview_2025_03_11", want: "web-search" },
    { format: "Responses", type: "code_interpreter", want: "code" },
    { format: "Responses", type: "apply_patch", want: "other" },
    { format: "Responses", type: "function", want: undefined },
    { format: "Messages", type: "web_search_20250305", want: "web-search" },
    { format: "Messages", type: "code_execution_20250825", want: "code" },
    { format: "Messages", type: "web_fetch_20250910", want: "web-fetch" },
    { format: "Messages", type: "bash_20250124", want: "other" },
    { format: "Messages", type: "custom", want: undefined },
    { format: "GenerateContent", type: "googleSearch", want: "web-search" },
    { format: "GenerateContent", type: "code_execution", want: "code" },
    { format: "GenerateContent", type: "urlContext", want: "web-fetch" },
    { format: "GenerateContent", type: "functionDeclarations", want: undefined },
    { format: "ChatCompletions", type: "web_search_options", want: "web-search" },
  ] as const) {
    it(`takes ${row.type} of ${row.format} for ${row.want ?? "no provider-run tool"}`, () =>
      assert.equal(hostedToolKind(row.format, row.type), row.want));
  }
});

describe("hostedNames()", () => {
  for (const { tool, type, want } of [
    { tool: "web-search", type: "web_search_20250305", want: ["web_search"] },
    { tool: "web-search", type: "web_search_options", want: ["web_search_options", "web_search"] },
    { tool: "code", type: "code_execution_20250825", want: ["code_execution"] },
  ] as const) {
    it(`${type} is chosen by ${want.join(" or ")}`, () =>
      assert.deepEqual(hostedNames({ kind: "hosted", tool, type }), want));
  }
});

describe("lastSearch()", () => {
  it("is the last of several, and the others are declared", () => {
    const losses = new Losses("Ignore");
    const searches: readonly HostedTool[] = [
      { kind: "hosted", tool: "web-search", type: "web_search", where: "tools[0]" },
      { kind: "hosted", tool: "web-search", type: "web_search_preview", where: "tools[1]" },
    ];
    assert.equal(lastSearch(searches, losses), searches[1]);
    assert.deepEqual(losses.dropped, ["tools[0]"]);
  });
});

describe("keepTools()", () => {
  const own: Tool = { kind: "function", name: "f" };
  const search: HostedTool = { kind: "hosted", tool: "web-search", type: "web_search", where: "tools[0]" };
  const carried: HostedAbility = { kinds: new Set(["code"]), searchOptions: new Set() };

  it("keeps what the target has too", () => {
    const losses = new Losses("Reject");
    const kept = keepTools([own, search], { kinds: new Set(["web-search"]), searchOptions: new Set() }, losses);
    assert.deepEqual(kept, { own: [own], hosted: [search] });
  });

  it("drops what it has not beside the client's own tools", () => {
    const losses = new Losses("Ignore");
    assert.deepEqual(keepTools([search, own], carried, losses), { own: [own], hosted: [] });
    assert.deepEqual(losses.dropped, ["tools[0]"]);
  });

  it("declares what a search was to keep to and the target cannot say", () => {
    const losses = new Losses("Ignore");
    const limited: HostedTool = { ...search, search: { maxUses: 1, contextSize: "low", allowedDomains: ["a.test"] } };
    keepTools([limited], { kinds: new Set(["web-search"]), searchOptions: new Set(["allowedDomains"]) }, losses);
    assert.deepEqual(losses.dropped, ["tools[0].max_uses", "tools[0].search_context_size"]);
  });

  for (const policy of ["Ignore", "Reject"] as const) {
    it(`pitfall 80: refuses what it has not, alone, when the channel's policy is ${policy}`, () =>
      assert.equal(
        refusalOf(() => keepTools([search], carried, new Losses(policy))),
        "unsupported_parameter tools[0]",
      ));
  }
});
