import assert from "node:assert/strict";
import { RenameKeys } from "#proxy/neutral/filters/rename-keys";
import type { ReplyEvent } from "#proxy/neutral/reply";

const keys = new Map([
  [
    "find",
    new Map([
      ["_filter", "$filter"],
      ["filter_name_", 'filter["name"]'],
      ["_", "名前"],
    ]),
  ],
]);

/** The arguments of a call of `find` that come in these pieces, and how many events tell them. */
function given(pieces: readonly string[], name = "find"): string {
  const filter = new RenameKeys(keys);
  const at = { candidate: 0, part: 0 };
  const events: ReplyEvent[] = [
    { type: "open", ...at, block: { kind: "call", id: "1", name, tool: "function" } },
    ...pieces.map((text) => ({ type: "delta", ...at, text }) as const),
    { type: "close", ...at },
  ];
  const told = events.flatMap((event) => filter.apply(event));
  return told.map((event) => (event.type === "delta" ? event.text : "")).join("");
}

describe("pitfall 155: keys of arguments on their way back", () => {
  const upstream =
    '{"_filter": "a", "n": {"_filter": 1, "l": [{"_": 2}]}, "filter_name_":"_filter\\"}", "l":["_filter",{"_filter":3}], "_":{}}';
  const client =
    '{"$filter": "a", "n": {"_filter": 1, "l": [{"_": 2}]}, "filter[\\"name\\"]":"_filter\\"}", "l":["_filter",{"_filter":3}], "名前":{}}';

  it("are the client's at the root, and nothing else changes", () => assert.equal(given([upstream]), client));

  for (let cut = 1; cut < upstream.length; cut += 1) {
    it(`are the same when they are cut behind ${cut} characters`, () =>
      assert.equal(given([upstream.slice(0, cut), upstream.slice(cut)]), client));
  }

  it("are the same in single characters, and where a key is spelled with escapes", () => {
    assert.equal(given([...upstream]), client);
    assert.equal(given(['{"\\u005ffilter":1}']), '{"$filter":1}');
  });

  it("leave half a key as it came where the reply was cut in it", () =>
    assert.equal(given(['{"_filter":1,"_fil']), '{"$filter":1,"_fil'));

  it("of another tool stay", () => assert.equal(given([upstream], "other"), upstream));

  it("go out as they come: nothing but a key waits", () => {
    const filter = new RenameKeys(keys);
    const at = { candidate: 0, part: 0 };
    filter.apply({ type: "open", ...at, block: { kind: "call", id: "1", name: "find", tool: "function" } });
    const said = (text: string): unknown => filter.apply({ type: "delta", ...at, text })[0];
    assert.deepEqual(said('{"_fil'), { type: "delta", ...at, text: "{" });
    assert.equal(said("te"), undefined);
    assert.deepEqual(said('r":"lon'), { type: "delta", ...at, text: '"$filter":"lon' });
    assert.deepEqual(said("g te"), { type: "delta", ...at, text: "g te" });
  });
});
