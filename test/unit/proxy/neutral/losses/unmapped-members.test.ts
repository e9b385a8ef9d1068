import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Losses } from "#proxy/neutral/losses/losses";
import {
  bracketed,
  collectUnmapped,
  dotted,
  isSet,
  type KnownObjects,
  knownObject,
} from "#proxy/neutral/losses/unmapped-members";

describe("says()", () => {
  for (const value of [undefined, null, "", false, [], {}]) {
    it(`hears nothing in ${JSON.stringify(value)}`, () => assert.equal(isSet(value), false));
  }
  for (const value of [0, true, "x", [0], ["direct"], { type: "direct" }, { type: "auto", a: 1 }]) {
    it(`hears something in ${JSON.stringify(value)}`, () => assert.equal(isSet(value), true));
  }
});

describe("collectUnmapped()", () => {
  const blocks: KnownObjects = new Map([
    ["text", knownObject(["type", "text"])],
    ["result", knownObject(["type", "content"], () => ({ content: blocks }))],
  ]);
  const unmappedOf = (value: unknown, itemPath = dotted): string[] => {
    const unmapped: string[] = [];
    collectUnmapped(value, blocks, "content", itemPath, unmapped);
    return unmapped;
  };
  const nested = [{ type: "result", content: [{ type: "text", text: "x", mood: 1 }], aura: 2 }];

  for (const row of [
    { name: "what is known", value: [{ type: "text", text: "x" }], want: [] },
    { name: "what says nothing", value: [{ type: "text", text: "x", mood: null }], want: [] },
    { name: "what is no object", value: ["x", 1], want: [] },
    {
      name: "usual callers",
      value: [{ type: "text", caller: { type: "direct" }, allowed_callers: ["direct"] }],
      want: [],
    },
    { name: "a usual container", value: [{ type: "text", container: { type: "auto", file_ids: [] } }], want: [] },
    { name: "an object of unknown type", value: [{ type: "__proto__", mood: 1 }], want: [] },
  ]) {
    it(`passes over ${row.name}`, () => assert.deepEqual(unmappedOf(row.value), row.want));
  }

  it("hears what is not usual, and the usual words elsewhere", () =>
    assert.deepEqual(unmappedOf([{ type: "text", caller: { type: "x" }, container: "c", mood: { type: "auto" } }]), [
      "content.0.caller",
      "content.0.container",
      "content.0.mood",
    ]));

  it("names what is not known, outside and inside", () =>
    assert.deepEqual(unmappedOf(nested), ["content.0.aura", "content.0.content.0.mood"]));

  it("spells places as the client does", () =>
    assert.deepEqual(unmappedOf(nested, bracketed), ["content[0].aura", "content[0].content[0].mood"]));
});

describe("Losses", () => {
  it("names a field without what stands inside of it", () => {
    const losses = new Losses("Ignore");
    for (const field of ["tools.0.max_uses", "tools.0", "tools.01", "a[0].b", "a[0]", "ab"]) losses.drop(field);
    assert.deepEqual(losses.dropped, ["tools.0", "tools.01", "a[0]", "ab"]);
  });

  it("takes names of a client that are as long as a body", () => {
    const losses = new Losses("Ignore");
    const startedMs = performance.now();
    for (const step of [".", "[", "a."]) losses.drop(step.repeat(1_000_000));
    assert.equal(losses.dropped.length, 3);
    assert.ok(performance.now() - startedMs < 200, `${performance.now() - startedMs} ms`);
  });
});
