/** Shows that the comparison of digests sees every kind of loss: a judge that never objects proves nothing. */
import assert from "node:assert/strict";
import { compare } from "#test/support/digest/compare";
import { type Digest, emptyDigest } from "#test/support/digest/facts";

const usual: Digest = {
  ...emptyDigest(),
  text: "Hi",
  reasoning: "T",
  tools: [{ id: "call_a", name: "f", args: { x: 1 } }],
  finish: "tool_calls",
  usage: { input: 10, output: 5, cache_read: 2, cache_write: 1, reasoning: 3 },
  signatures: ["s"],
  server_tools: ["web_search_call"],
  citations: [{ url: "https://a.example", title: "A" }],
  media: [{ mime: "image/png", sha256: "0" }],
  choices: 1,
};
const tool = { id: "call_a", name: "f", args: { x: 1 } };

describe("compare", () => {
  it("finds nothing between equal replies", () => assert.deepEqual(compare(usual, usual, { sameProtocol: true }), []));

  for (const row of [
    { name: "text", change: { text: "H" }, same: "must", other: "must" },
    { name: "status", change: { status: "error" as const }, same: "must", other: "must" },
    { name: "a tool's name", change: { tools: [{ ...tool, name: "g" }] }, same: "must", other: "must" },
    { name: "an argument", change: { tools: [{ ...tool, args: { x: 2 } }] }, same: "must", other: "must" },
    { name: "a tool's id", change: { tools: [{ ...tool, id: "call_b" }] }, same: "must", other: "should" },
    { name: "the finish", change: { finish: "stop" }, same: "must", other: "must" },
    {
      name: "usage",
      change: { usage: { input: 10, output: 6, cache_read: 2, cache_write: 1, reasoning: 3 } },
      same: "must",
      other: "must",
    },
    { name: "all usage", change: { usage: null }, same: "must", other: "must" },
    { name: "reasoning", change: { reasoning: "" }, same: "must", other: "should" },
    { name: "a citation", change: { citations: [] }, same: "must", other: "should" },
    { name: "media", change: { media: [] }, same: "must", other: "should" },
    { name: "a choice", change: { choices: 2 }, same: "must", other: "should" },
    { name: "a signature", change: { signatures: [] }, same: "must", other: "none" },
    { name: "a server tool", change: { server_tools: [] }, same: "must", other: "none" },
    {
      name: "a reply that contradicts itself",
      change: { warnings: ["no terminal event"] },
      same: "must",
      other: "must",
    },
  ]) {
    it(`sees a change of ${row.name}`, () => {
      const changed = { ...usual, ...row.change };
      assert.equal(worst(compare(usual, changed, { sameProtocol: true })), row.same);
      assert.equal(worst(compare(usual, changed, { sameProtocol: false })), row.other);
    });
  }
});

function worst(differences: readonly { readonly level: string }[]): string {
  if (differences.some(({ level }) => level === "must")) return "must";
  return differences.length > 0 ? "should" : "none";
}
