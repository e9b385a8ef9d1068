import assert from "node:assert/strict";
import fc from "fast-check";
import { ToolNames } from "#proxy/neutral/tools/tool-names";

const valid = {
  openai: /^[a-zA-Z0-9_-]{1,64}$/,
  anthropic: /^[a-zA-Z0-9_-]{1,64}$/,
  google: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
} as const;

describe("ToolNames", () => {
  for (const row of [
    { name: "keeps a name that is fine", rule: "openai", tool: "get_weather-2", want: "get_weather-2" },
    { name: "replaces characters that are not allowed", rule: "openai", tool: "math.add", want: "math_add" },
    { name: "keeps a dot for Google", rule: "google", tool: "math.add", want: "math.add" },
    { name: "puts a letter before a digit for Google", rule: "google", tool: "2nd", want: "_2nd" },
    { name: "leaves a leading digit to the others", rule: "anthropic", tool: "2nd", want: "2nd" },
    {
      name: "shortens a long name behind its beginning",
      rule: "openai",
      tool: "a".repeat(65),
      want: /^a{55}_[0-9a-f]{8}$/,
    },
    { name: "gives an empty name one", rule: "google", tool: "", want: "_" },
  ] as const) {
    it(row.name, () => {
      const got = new ToolNames(row.rule, [row.tool]).toUpstream(row.tool);
      if (typeof row.want === "string") assert.equal(got, row.want);
      else assert.match(got, row.want);
    });
  }

  it("never gives a changed name that another tool has", () => {
    const names = new ToolNames("openai", ["a.b", "a_b", "a b"]);
    const got = ["a.b", "a_b", "a b"].map((name) => names.toUpstream(name));
    assert.equal(got[1], "a_b");
    assert.equal(new Set(got).size, 3);
  });

  it("leaves reserved names to the upstream, also where a changed name would be one", () => {
    const names = new ToolNames("anthropic", ["web_search", "web.search", "f"], new Set(["web_search"]));
    const got = ["web_search", "web.search", "f"].map((name) => names.toUpstream(name));
    assert.equal(got[2], "f");
    assert.equal(new Set([...got, "web_search"]).size, 4);
    assert.deepEqual([...names.changed.values()], ["web_search", "web.search"]);
  });

  it("leads back to the client's names", () => {
    const names = new ToolNames("openai", ["a.b", "c"]);
    assert.deepEqual([...names.changed], [["a_b", "a.b"]]);
  });

  it("is a bijection onto valid names, whatever the names are and in whatever order they come", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("openai", "anthropic", "google"),
        fc.uniqueArray(
          fc.oneof(fc.string(), fc.string({ unit: "grapheme", maxLength: 90 }), fc.constantFrom("a.b", "a_b", "a b")),
        ),
        fc.uniqueArray(fc.string()),
        (rule, announced, later) => {
          const names = new ToolNames(rule, announced);
          const all = [...new Set([...announced, ...later])];
          const got = all.map((name) => names.toUpstream(name));
          assert.equal(new Set(got).size, all.length);
          for (const [index, name] of got.entries()) {
            assert.match(name, valid[rule]);
            assert.equal(names.changed.get(name) ?? name, all[index]);
          }
        },
      ),
    );
  });
});
