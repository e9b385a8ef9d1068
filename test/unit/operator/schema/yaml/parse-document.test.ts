import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { parseManifest } from "#operator/schema/parse-manifest";
import { parseDocumentText } from "#operator/schema/yaml/parse-document";
import { splitDocuments } from "#operator/source/manifest-file";
import { keyManifest } from "#test/bench/bench-manifests";
import { isReadAlike } from "#test/support/is-read-alike";

const root = new URL("../../../../../", import.meta.url).pathname;

function documentsOf(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".yaml"))
    .flatMap((path) => splitDocuments(readFileSync(join(root, folder, path), "utf8")).map(({ text }) => text));
}

const manifests = ["crds", "examples", "test/golden/compile"].flatMap(documentsOf);

/** What the manifests of the project have little of. */
const rare = [
  "a: |\n  x\n   y\n\n  z\nb: 1\n",
  "a: >-\n  x y\n  z\n\n  w\nb:\n- 'it''s'\n- \"x\\ty\\u00e9\"\n- |2\n    x\n",
  'a: x\n  y\n  z\nb: "x\n  y"\n',
  "# c\na: # c\n  b: 1 # c\n  # d\n  c: [1, # e\n    2]\n# f\n",
  "a: {b: 1,\n  c: {d: [x,\n  y]}}\n? e\n: f\n",
  "a:\n  - - b\n    - c\n  - d: e\n    f: g\n",
  "a: [b: c, d, {e: , f}]\n",
];
const pieces = [
  ..."abeynxo019.:-_/ #,[]{}'\"*&!|>@%`~+=?\\\n",
  ...["- ", "  ", "\n  ", "\n- ", ": ", ":\n", " #c", "# c\n", "|\n", "|-\n", ">\n", ">+\n", "|2\n", "''", ", ", "? "],
  ...["---\n", "...\n", "--- ", "<<: ", "null", "true", "on", "1e3", "0x1", "-0", ".5", "123456789012345678901"],
  ...["\\n", "\\\n", "\\x41", "\\u12", '"a"', "[]", "{}", "- - ", "-\n", " - ", "a: b", "\n\n"],
];

interface Edit {
  readonly how:
    | "delete"
    | "double"
    | "swap"
    | "insert"
    | "deleteLine"
    | "doubleLine"
    | "swapLines"
    | "indent"
    | "outdent";
  /** As parts of the text's length. */
  readonly at: number;
  readonly other: number;
  readonly piece: string;
}

const edits = fc.array(
  fc.record<Edit>({
    how: fc.constantFrom(
      "delete",
      "double",
      "swap",
      "insert",
      "deleteLine",
      "doubleLine",
      "swapLines",
      "indent",
      "outdent",
    ),
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    other: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    piece: fc.constantFrom(...pieces),
  }),
  { minLength: 1, maxLength: 4 },
);

function edit(text: string, { how, at, other, piece }: Edit): string {
  const index = Math.floor(at * (text.length + 1));
  const [before, character, after] = [text.slice(0, index), text.slice(index, index + 1), text.slice(index + 1)];
  if (how === "delete") return before + after;
  if (how === "double") return before + character + character + after;
  if (how === "swap") return before + after.slice(0, 1) + character + after.slice(1);
  if (how === "insert") return before + piece + character + after;
  const lines = text.split("\n");
  const [one, two] = [Math.floor(at * lines.length), Math.floor(other * lines.length)];
  const [line = "", second = ""] = [lines[one], lines[two]];
  if (how === "deleteLine") lines.splice(one, 1);
  else if (how === "doubleLine") lines.splice(one, 0, line);
  else if (how === "indent") lines[one] = ` ${line}`;
  else if (how === "outdent") lines[one] = line.replace(/^ /, "");
  else {
    lines[one] = second;
    lines[two] = line;
  }
  return lines.join("\n");
}

describe("parseDocumentText", function () {
  this.timeout(60_000);

  it("reads nearly every manifest of the project fast, and as the general parser does", () => {
    const taken = manifests.filter(isReadAlike).length;
    assert.ok(taken > manifests.length * 0.9, `only ${taken} of ${manifests.length} were taken`);
  });

  it("reads mutated manifests as the general parser does", () => {
    const texts = [...manifests.filter(({ length }) => length < 6_000), ...Array(4).fill(rare).flat(), keyManifest(1)];
    const runs = Number(process.env["SIMPLE_YAML_RUNS"] ?? 20_000);
    let taken = 0;
    const property = fc.property(fc.constantFrom<string>(...texts), edits, (text, changes) => {
      if (isReadAlike(changes.reduce(edit, text))) taken += 1;
    });
    fc.assert(property, { numRuns: runs });
    assert.ok(taken > runs / 10, `only ${taken} of ${runs} were taken`);
  });

  it("gives the whole result of the general parser, whichever read it", () => {
    for (const text of [
      ...manifests,
      ...rare,
      "",
      "# a\n",
      "a",
      "a: 1\n---\nb: 2\n",
      "a: [",
      "kind: List\napiVersion: v1\nitems:\n- {a: 1}\n",
    ]) {
      const [got, want] = [parseDocumentText(text), parseManifest(text)];
      assert.deepEqual(got.problems, want.problems);
      const facts = ({ documents }: typeof got): unknown[] =>
        documents.map(({ object, line, locate }) => {
          return [
            structuredClone(object),
            line,
            locate([]),
            locate(["metadata", "name"]),
            locate(["spec", "limits", 0]),
          ];
        });
      assert.deepEqual(facts(got), facts(want));
    }
  });
});
