import assert from "node:assert/strict";
import fc from "fast-check";
import { readSimpleYaml } from "#operator/schema/yaml/read-simple-yaml";
import { keyManifest } from "#test/bench/bench-manifests";
import { isReadAlike } from "#test/support/is-read-alike";

const words = [
  "a",
  "name",
  "spec",
  "true",
  "False",
  "yes",
  "No",
  "on",
  "y",
  "null",
  "~",
  "0",
  "00",
  "007",
  "12",
  "1_000",
  "-3",
  "1.5",
  ".5",
  "1e3",
  "9e12",
  "12e4f",
  "0x1F",
  "0b1",
  "0o7",
  "0a1",
  "3b2",
  "1:30",
  "200k",
  "1G",
  "2026-09",
  "2026-09-01",
  "2026-09-01T00:00:00Z",
  "10.0.0.0/8",
  "::1/128",
  "gpt-5.4-mini",
  "claude-*",
  "*-preview",
  "*",
  "&a",
  "!t",
  "|",
  ">",
  "?",
  "? a",
  "%a",
  "@a",
  "`a`",
  "http://a.b:80/c",
  "a:b",
  "a: b",
  "a #c",
  "#c",
  "a b",
  "a  b",
  "'x'",
  "'it''s'",
  '"x"',
  '"a\\n"',
  '"#"',
  "': '",
  "[]",
  "{}",
  "[a, b]",
  "[a,b]",
  "[ a , b ]",
  "[a,]",
  "{a: 1}",
  "{a: 1, b: [x]}",
  '{"a":1}',
  "{a:1}",
  "{a}",
  "{a: 1, a: 2}",
  "{ a: 1 }",
  "{a: {b: c}}",
  "-",
  "- a",
  "--- a",
  "---",
  "...",
  "<<",
  "=",
  "__proto__",
  "{__proto__: 1}",
  ".inf",
  ".nan",
  "Infinity",
  "+1",
  "1,000",
  "1e",
  "0e",
  "0.",
  "1.2.3",
  "9f2c",
  "a, b",
  "a]",
  "a}",
  "",
  "x".repeat(20),
];
const fragment = fc.oneof(
  fc.constantFrom(...words),
  fc.string({ unit: fc.constantFrom(..."ae019xbo.-_:/ #,*[]{}'\"&!+~y"), maxLength: 8 }),
);
const line = fc
  .tuple(
    fc.constantFrom("", "", "  ", "    ", " ", "      "),
    fc.constantFrom("", "", "", "- ", "-  ", "- - "),
    fc.option(fc.constantFrom("a", "b", "c", "on", "null", "x.y/z", "'a'", '"a"', "12", "a b", "__proto__"), {
      nil: undefined,
    }),
    fc.constantFrom(": ", ":", ":  "),
    fragment,
    fc.constantFrom("", "", "", " ", " # c", "\t", "\r"),
  )
  .map(
    ([indent, dash, name, colon, value, end]) =>
      `${indent}${dash}${name === undefined ? "" : `${name}${colon}`}${value}${end}`,
  );

/** Texts that are mostly good, so that much of them is taken. */
const good = fc.letrec<{ block: string[]; flow: string }>((tie) => ({
  flow: fc.oneof(
    { maxDepth: 3 },
    fragment,
    fc.array(tie("flow"), { maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
    fc
      .array(fc.tuple(fc.constantFrom("a", "b", "c"), tie("flow")), { maxLength: 3 })
      .map((members) => `{${members.map(([name, value]) => `${name}: ${value}`).join(", ")}}`),
  ),
  block: fc
    .array(
      fc.oneof(
        { maxDepth: 3 },
        fc.tuple(fc.constantFrom("a", "b", "c", "d"), tie("flow")).map(([name, value]) => [`${name}: ${value}`]),
        fc
          .tuple(fc.constantFrom("a", "b", "c", "d"), tie("block"), fc.constantFrom("  ", "   "))
          .map(([name, block, indent]) => [`${name}:`, ...block.map((one) => indent + one)]),
        fc
          .tuple(
            fc.constantFrom("e", "f"),
            fc.array(tie("block"), { minLength: 1, maxLength: 2 }),
            fc.constantFrom("", "  "),
          )
          .map(([name, blocks, indent]) => [
            `${name}:`,
            ...blocks.flatMap((block) => block.map((one, index) => `${indent}${index === 0 ? "- " : "  "}${one}`)),
          ]),
        fc
          .tuple(fc.constantFrom("e", "f"), fc.array(tie("flow"), { minLength: 1, maxLength: 2 }))
          .map(([name, values]) => [`${name}:`, ...values.map((value) => `- ${value}`)]),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((parts) => parts.flat()),
}));

describe("readSimpleYaml", function () {
  this.timeout(60_000);

  it("takes the usual key", () => {
    const text = keyManifest(7);
    assert.equal(isReadAlike(text), true);
    assert.equal(isReadAlike(`---\n# a comment\n${text}`), true);
  });

  it("agrees with the general parser on every value in every place", () => {
    let taken = 0;
    for (const word of words) {
      for (const text of [
        `a: ${word}`,
        `a: [${word}]`,
        `a: {b: ${word}}`,
        `a:\n- ${word}`,
        `a:\n  ${word}`,
        `${word}: a`,
        `a: x\n${word}`,
        `- ${word}`,
        `${word}`,
      ]) {
        if (isReadAlike(text)) taken += 1;
      }
    }
    assert.ok(taken > 150, `only ${taken} were taken`);
  });

  it("agrees with the general parser on numbers and words of few characters", () => {
    const characters = [..."01789aefxobXEk._-+/:y"];
    for (const one of characters)
      for (const two of characters) for (const three of characters) isReadAlike(`a: ${one}${two}${three}`);
  });

  it("agrees with the general parser on random lines", () => {
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 6 }), (lines) => void isReadAlike(lines.join("\n"))),
      { numRuns: 20_000 },
    );
  });

  it("agrees with the general parser on random documents, and takes many of them", () => {
    let taken = 0;
    fc.assert(
      fc.property(good.block, (lines) => {
        if (isReadAlike(`${lines.join("\n")}\n`)) taken += 1;
      }),
      { numRuns: 5_000 },
    );
    assert.ok(taken > 150, `only ${taken} were taken`);
  });

  it("agrees with the general parser on a key with a few characters changed", () => {
    const text = keyManifest(3);
    const characters = [..."abeyn01.:-_/ #,[]{}'\"*&!|>%@`~+=?\n eE"];
    const edit = fc.tuple(
      fc.nat(text.length),
      fc.constantFrom(...characters),
      fc.constantFrom("insert", "replace", "remove"),
    );
    let taken = 0;
    const isTaken = fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
      let changed = text;
      for (const [at, character, how] of edits) {
        changed =
          changed.slice(0, at) + (how === "remove" ? "" : character) + changed.slice(how === "insert" ? at : at + 1);
      }
      if (isReadAlike(changed)) taken += 1;
    });
    const runs = Number(process.env["SIMPLE_YAML_RUNS"] ?? 2_000);
    fc.assert(isTaken, { numRuns: runs });
    // About a quarter of random edits leave simple YAML; far fewer would mean that nothing was compared.
    assert.ok(taken > runs / 10, `only ${taken} of ${runs} were taken`);
  });

  describe("leaves to the general parser", () => {
    // All but the marked were read otherwise than by the general parser, or were taken where it reports a fault.
    for (const { name, text } of [
      { name: "text behind a flow value", text: "a:\n  b: 1\n  c:\n  - {d: e} f: g\n" },
      { name: "an indented marker on the first line", text: " ---\na:\n" },
      { name: "an unknown directive", text: "%a\n---\nb: 1\n" },
      { name: "a second marker (not certain)", text: "---\na: 1\n---\n" },
      { name: "a block text of spaces", text: "a: >1\n  \n" },
      { name: "a block text that says its indentation", text: "a: |1\n  x\n  \n" },
      { name: "a block text without a last line end", text: "a: |2\n   x\n   " },
      { name: "an escaped line end", text: 'a: "\\\n\n "\n' },
      { name: "an escape beyond Unicode", text: 'a: "\\U00110000"\n' },
      { name: "a comment between brackets", text: "a: {b: c\n#\n }\n" },
      { name: "a value on a line of its own below a comment", text: "a:\n  -\n#c\n   z\n  - b\n" },
      { name: "many brackets in quotes", text: `a: "${"[".repeat(201)}"\n` },
      { name: "an infinite number (a fault)", text: "a: .inf\n" },
      { name: "an escape beyond Latin-1 (not certain)", text: 'a: "\\u20ac"\n' },
      ...["&x 1", "*x", "!!str 1", "{b: &x 1}"].map((value) => ({
        name: `${value} (not certain)`,
        text: `a: ${value}\n`,
      })),
    ]) {
      it(name, () => assert.equal(readSimpleYaml(text), undefined));
    }
  });

  describe("takes", () => {
    for (const { name, text, want } of [
      { name: "block texts", text: "a: |\n  x\n   y\n\n  z\nb: >-\n  x\n  y\n", want: { a: "x\n y\n\nz\n", b: "x y" } },
      { name: "quoted texts", text: "a: 'it''s'\nb: \"x\\n\\\"y\\\"\"\n", want: { a: "it's", b: 'x\n"y"' } },
      { name: "texts of several lines", text: "a: x\n  y\nb: 'x\n\n  y'\n", want: { a: "x y", b: "x\ny" } },
      { name: "comments", text: "# a\nb: c # d\n# e\nf: # g\n  - 'h' # i\n", want: { b: "c", f: ["h"] } },
      {
        name: "flow values of several lines",
        text: "a: {b: c,\n  d: [e,\n    f]}\n",
        want: { a: { b: "c", d: ["e", "f"] } },
      },
      { name: "JSON", text: '{\n  "a": [1, null, true],\n  "b": {}\n}\n', want: { a: [1, null, true], b: {} } },
      {
        name: "values as kubectl reads them",
        text: "a: [yes, off, ~, 0o17, 0x1f, 1_000, -0, 1e3, 1e400, 1:30, 2026-01-01, 12345678901234567890]\nb:\n",
        want: {
          a: [true, false, null, 15, 31, 1000, -0, 1000, "1e400", "1:30", "2026-01-01", 12345678901234567000],
          b: null,
        },
      },
    ]) {
      it(name, () => {
        assert.deepEqual(readSimpleYaml(text)?.object, want);
        assert.equal(isReadAlike(text), true);
      });
    }
  });

  it("shares equal flow values and freezes them", () => {
    const [one, other] = [readSimpleYaml("a: {b: [c, d]}"), readSimpleYaml("x: {b: [c, d]}")];
    assert.equal(one?.object["a"], other?.object["x"]);
    assert.ok(Object.isFrozen(one?.object["a"]));
  });
});
