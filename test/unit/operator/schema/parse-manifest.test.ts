import assert from "node:assert/strict";
import fc from "fast-check";
import { stringify } from "yaml";
import { manifestLimits, parseManifest } from "#operator/schema/parse-manifest";

function objectsOf(text: string): unknown[] {
  const { documents, problems } = parseManifest(text);
  assert.deepEqual(problems, []);
  return documents.map(({ object }) => object);
}

describe("parseManifest() reads", () => {
  for (const { name, text, want } of [
    { name: "several documents", text: "a: 1\n---\nb: 2\n...\n---\nc: 3\n", want: [{ a: 1 }, { b: 2 }, { c: 3 }] },
    { name: "nothing out of comments and empty documents", text: "# a\n---\n---\n# b\n", want: [] },
    { name: "nothing out of an empty file", text: "", want: [] },
    { name: "a byte order mark as nothing", text: "\uFEFFa: 1", want: [{ a: 1 }] },
    { name: "line ends of Windows", text: "a: 1\r\nb:\r\n  - c\r\n", want: [{ a: 1, b: ["c"] }] },
    { name: "JSON", text: '{"a": [1, "x", null, true], "b": {}}', want: [{ a: [1, "x", null, true], b: {} }] },
    {
      name: "the items of a List",
      text: "apiVersion: v1\nkind: List\nitems:\n- {a: 1}\n- {b: 2}\n",
      want: [{ a: 1 }, { b: 2 }],
    },
    {
      name: "unquoted yes and n as booleans, as kubectl does",
      text: 'a: yes\nb: n\n"on": on\n',
      want: [{ a: true, b: false, on: true }],
    },
    {
      name: "numbers as Go writes them, and as text what only looks like one",
      text: "a: [0o17, 0X1f, -0b11, 017, 1_000, 1e3, .5]\nb: [e1, E5, 1e400, 0o8, 1:30, _1]\n",
      want: [{ a: [15, 31, -3, 15, 1000, 1000, 0.5], b: ["e1", "E5", "1e400", "0o8", "1:30", "_1"] }],
    },
    {
      name: "unquoted times as strings",
      text: "a: 2026-12-31T00:00:00Z\nb: 2026-12-31\nc: 1:30",
      want: [{ a: "2026-12-31T00:00:00Z", b: "2026-12-31", c: "1:30" }],
    },
    { name: "names of members as strings", text: "1: a\ntrue: b\n", want: [{ "1": "a", true: "b" }] },
    {
      name: "names in quotes whatever they look like, and others that begin like a number",
      text: "\"on\": a\n'1.0': b\ne1: c\n4o: d\n1.2.3: e\n_1: f\nonly: g\n",
      want: [{ on: "a", "1.0": "b", e1: "c", "4o": "d", "1.2.3": "e", _1: "f", only: "g" }],
    },
    {
      name: "a few aliases and merges",
      text: "a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 2\n",
      want: [{ a: { b: 1 }, c: { b: 1 }, d: { b: 1, e: 2 } }],
    },
    {
      name: "a member called __proto__ as a member",
      text: "__proto__: {a: 1}\n",
      want: [JSON.parse('{"__proto__": {"a": 1}}')],
    },
    {
      name: "block scalars with document markers further in",
      text: "a: |\n  --- x\n  y\n",
      want: [{ a: "--- x\ny\n" }],
    },
  ]) {
    it(name, () => assert.deepEqual(objectsOf(text), want));
  }
});

describe("parseManifest() refuses", () => {
  const bomb = [
    "a: &a [x,x,x,x,x,x,x,x,x]",
    ..."bcdefgh".split("").map((letter, index) => `${letter}: &${letter} [${Array(9).fill(`*${"abcdefg"[index]}`)}]`),
  ].join("\n");
  for (const { name, text, message, line } of [
    { name: "a member given twice", text: "a: 1\nb: 2\na: 3\n", message: "duplicate member", line: 3 },
    {
      name: "a member given twice, deep inside",
      text: "a:\n  - b: 1\n    b: 2\n",
      message: "duplicate member",
      line: 3,
    },
    { name: "a bracket left open", text: "a: 1\nb: [1, 2\n", message: "", line: 3 },
    { name: "tabs for indentation", text: "a:\n\tb: 1\n", message: "Tabs are not allowed", line: 2 },
    { name: "unknown tags", text: "a: 1\nb: !!js/function x\n", message: "Unresolved tag", line: 2 },
    { name: "aliases that multiply", text: bomb, message: "expand to too much", line: 1 },
    { name: "an alias of nothing", text: "a: *b\n", message: "no anchor", line: 1 },
    { name: "an anchor within itself", text: "a: &a [*a]\n", message: "contains itself", line: 1 },
    { name: "members named by lists", text: "? [a]\n: 1\n", message: "plain text", line: 1 },
    { name: "infinity", text: "a: 1\nb: .inf\n", message: "infinity", line: 2 },
    { name: "depth beyond 64", text: `a: ${"[".repeat(64)}${"]".repeat(64)}`, message: "deeper than 64", line: 1 },
    {
      name: "great depth before any parser sees it",
      text: `a: 1\nb: ${"{x: ".repeat(100_000)}`,
      message: "deeper than 64",
      line: 2,
    },
    ...["on", "Yes", "N", "off", "TRUE"].map((name) => ({
      name: `the name ${name} without quotes, which kubectl reads as another`,
      text: `a:\n  b: 1\n  ${name}: x\n`,
      message: `write "${name}"`,
      line: 3,
    })),
    ...["~", "null", "1.0", "010", "0x1F", "+1", "1e3", ".5", "1_000", ".inf", "1234567890123456789"].map((name) => ({
      name: `the name ${name} without quotes, which kubectl may write otherwise`,
      text: `{a: [{${name}: x}]}`,
      message: `write "${name}"`,
      line: 1,
    })),
    { name: "great depth of dashes", text: "- ".repeat(100_000), message: "deeper than 64", line: 1 },
    { name: "a List without items", text: "apiVersion: v1\nkind: List\n", message: "list of objects", line: 1 },
  ]) {
    it(name, () => {
      const { documents, problems } = parseManifest(text);
      assert.deepEqual(documents, []);
      const [problem] = problems;
      assert.ok(problem);
      assert.ok(problem.message.includes(message), problem.message);
      assert.equal(problem.position.line, line);
    });
  }

  it("a file beyond the bound", () => {
    const { problems } = parseManifest("#".repeat(manifestLimits.bytesMax + 1));
    assert.match(problems[0]?.message ?? "", /larger than/);
  });

  it("one broken document and keeps the others", () => {
    const { documents, problems } = parseManifest("a: 1\n---\nb: 1\nb: 2\n---\nc: 3\n");
    assert.deepEqual(
      documents.map(({ object }) => object),
      [{ a: 1 }, { c: 3 }],
    );
    assert.deepEqual(
      problems.map(({ position }) => position.line),
      [4],
    );
  });

  it("says a few things about a document at most", () => {
    assert.ok(parseManifest("[".repeat(60)).problems.length <= manifestLimits.errorsMax);
  });
});

it("parseManifest() does not add up brackets in quoted text over documents", () => {
  const { documents, problems } = parseManifest('---\na: "[{"\n'.repeat(1_000));
  assert.deepEqual([documents.length, problems.length], [1_000, 0]);
});

describe("parseManifest() stays quick", () => {
  // The test runner asks for whole stacks; the programs keep ten frames, and each of many errors has a deep one.
  const frames = Error.stackTraceLimit;
  before(() => {
    Error.stackTraceLimit = 10;
  });
  after(() => {
    Error.stackTraceLimit = frames;
  });
  const wide = Array.from({ length: 50_000 }, (_, index) => `k${index}: v`).join("\n");
  for (const { name, text } of [
    { name: "on an object with very many members", text: wide },
    { name: "on very many brackets", text: `${"{".repeat(200)}\n---\n`.repeat(50) },
    { name: "on very many documents", text: "---\na: 1\n".repeat(15_000) },
    { name: "on very many open quotes", text: '"\n'.repeat(5_000) },
  ]) {
    it(name, () => {
      const started = performance.now();
      parseManifest(text);
      assert.ok(performance.now() - started < 8_000);
    });
  }
});

describe("locate()", () => {
  const text =
    "# comment\nspec:\n  limits:\n  - name: a\n    unit: Cost\n  - {name: b, unit: x}\n---\nkind: List\napiVersion: v1\nitems:\n- spec: {a: 1}\n- spec:\n    b: 2\n";
  const { documents } = parseManifest(text);
  for (const { name, document, path, want } of [
    { name: "finds the object", document: 0, path: [], want: { line: 2, column: 1 } },
    { name: "finds a member by its name", document: 0, path: ["spec", "limits"], want: { line: 3, column: 3 } },
    { name: "finds an item", document: 0, path: ["spec", "limits", 1], want: { line: 6, column: 5 } },
    {
      name: "finds a member of an item",
      document: 0,
      path: ["spec", "limits", 0, "unit"],
      want: { line: 5, column: 5 },
    },
    {
      name: "finds a member in braces",
      document: 0,
      path: ["spec", "limits", 1, "unit"],
      want: { line: 6, column: 15 },
    },
    {
      name: "stops at the nearest parent that is there",
      document: 0,
      path: ["spec", "limits", 0, "period"],
      want: { line: 4, column: 5 },
    },
    { name: "finds a member of a List's second item", document: 2, path: ["spec", "b"], want: { line: 13, column: 5 } },
  ]) {
    it(name, () => assert.deepEqual(documents[document]?.locate(path), want));
  }

  it("begins each document at its own line", () => {
    assert.deepEqual(
      documents.map(({ line }) => line),
      [2, 11, 12],
    );
  });
});

describe("parseManifest() on random input", () => {
  it("gives back what was written as YAML", () => {
    const property = fc.property(
      fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), { minLength: 1 }),
      (objects) => {
        const plain: unknown[] = JSON.parse(JSON.stringify(objects));
        // The writer leaves the name `<<` without quotes, and so it is another's: the next test has it in quotes. Nor does
        // it know the numbers that only Go does.
        fc.pre(!/"(?:<<|[-+]?0[oOXB][0-9a-fA-F_]+)"/.test(JSON.stringify(plain)));
        const options = { version: "1.1", aliasDuplicateObjects: false } as const;
        const text = plain.map((object) => stringify(object, options)).join("---\n");
        const { documents, problems } = parseManifest(text);
        if (problems.length === 0)
          assert.deepEqual(JSON.parse(JSON.stringify(documents.map(({ object }) => object))), plain);
      },
    );
    fc.assert(property, { numRuns: 300 });
  });

  it("takes the name << in quotes for a name", () => {
    const { documents, problems } = parseManifest('"<<": {a: 1}\n');
    assert.deepEqual([problems, JSON.parse(JSON.stringify(documents[0]?.object))], [[], { "<<": { a: 1 } }]);
  });

  it("never throws on any text", () => {
    const pieces = fc.constantFrom(
      "a",
      ":",
      " ",
      "\n",
      "- ",
      "[",
      "]",
      "{",
      "}",
      "&x ",
      "*x",
      "!!str ",
      "|",
      ">",
      "'",
      '"',
      "#",
      "---\n",
      "? ",
      "<<: ",
      "%YAML 1.2\n",
      "\t",
      "\u0000",
      "..\n",
    );
    const property = fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
      for (const document of parseManifest(parts.join("")).documents) document.locate(["a", 0, "b"]);
    });
    fc.assert(property, { numRuns: 3_000 });
  });
});
