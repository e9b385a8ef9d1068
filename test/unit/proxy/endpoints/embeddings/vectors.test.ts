/** Encodings of vectors, and how vectors are found in replies. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { decodeNumbers, encodeNumbers } from "#proxy/endpoints/embeddings/vectors/encode-vector";
import type { FindVectors } from "#proxy/endpoints/embeddings/vectors/found-vectors";
import { readCohere, readGoogle, readLists } from "#proxy/endpoints/embeddings/vectors/read-own-shapes";
import { readVectorList } from "#proxy/endpoints/embeddings/vectors/read-vector-list";
import { InvalidReply } from "#proxy/neutral/reply";

/** JSON has no negative zero. */
const float = fc.float({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number));
const floats = fc.array(float, { minLength: 1, maxLength: 40 });

describe("encodings of vectors", () => {
  it("come back as the same 32-bit floats, in the order of their bytes that OpenAI writes", () => {
    fc.assert(
      fc.property(floats, (numbers) => {
        const text = encodeNumbers(JSON.stringify(numbers));
        const base64: unknown = JSON.parse(text);
        assert.equal(base64, Buffer.from(Float32Array.from(numbers).buffer).toString("base64"));
        assert.deepEqual(JSON.parse(decodeNumbers(String(base64))), numbers);
      }),
    );
  });

  it("round to 32 bits what has more digits", () => {
    const base64 = JSON.parse(encodeNumbers("[0.1]")) as string;
    assert.deepEqual(JSON.parse(decodeNumbers(base64)), [Math.fround(0.1)]);
  });

  for (const json of ["[1,null]", '["1"]', "[[1]]", "{}", "7"]) {
    it(`refuse ${json}`, () => assert.throws(() => encodeNumbers(json), InvalidReply));
  }

  for (const [name, base64] of [
    ["nothing", ""],
    ["half a number", "AAA="],
    ["what is no number", Buffer.from(Float32Array.of(Number.NaN).buffer).toString("base64")],
    ["what is infinite", Buffer.from(Float32Array.of(Number.POSITIVE_INFINITY).buffer).toString("base64")],
  ] as const) {
    it(`refuse ${name}`, () => assert.throws(() => decodeNumbers(base64), InvalidReply));
  }

  it("refuse megabytes of padding as fast as any other text", () => {
    const startMs = performance.now();
    assert.throws(() => decodeNumbers(`${"=".repeat(4_000_000)}AA`), InvalidReply);
    assert.ok(performance.now() - startMs < 2_000, "far from the hours of a search that begins at each of them");
  });
});

function describeFound(find: FindVectors, reply: unknown): unknown {
  const found = find(Buffer.from(typeof reply === "string" ? reply : JSON.stringify(reply)));
  if (found === undefined) return undefined;
  const texts = found.vectors.map(({ value }) => found.bytes.toString("utf8", value.start, value.end));
  return { texts, kinds: found.vectors.map(({ kind }) => kind), input: found.usage?.input };
}

describe("vectors in replies", () => {
  const rows: readonly { name: string; find: FindVectors; reply: unknown; want: unknown }[] = [
    {
      name: "OpenAI's, by their index",
      find: readVectorList,
      reply:
        '{"usage":{"prompt_tokens":3,"total_tokens":4},"data":[{"embedding":[2],"index":1},{"index":0,"embedding":"AQ=="}]}',
      want: { texts: ['"AQ=="', "[2]"], kinds: ["text", "numbers"], input: 3 },
    },
    {
      name: "those without an index, as they stand",
      find: readVectorList,
      reply: { data: [{ embedding: [1] }, { embedding: [[1], [2]] }] },
      want: { texts: ["[1]", "[[1],[2]]"], kinds: ["numbers", "other"], input: undefined },
    },
    {
      name: "those behind names with escapes and brackets in texts",
      find: readVectorList,
      reply: '{"a\\"]":"]}\\\\","d\\u0061ta":[{"n":"[{\\"","embedding":[1]}],"usage":{"total_tokens":2}}',
      want: { texts: ["[1]"], kinds: ["numbers"], input: 2 },
    },
    {
      name: "none in an item without a vector",
      find: readVectorList,
      reply: { data: [{ index: 0 }] },
      want: undefined,
    },
    { name: "none in a list of numbers", find: readVectorList, reply: { data: [1] }, want: undefined },
    { name: "none in an error", find: readVectorList, reply: { error: { message: "no" } }, want: undefined },
    { name: "none in a list", find: readVectorList, reply: [], want: undefined },
    {
      name: "usage that is no number counts as none",
      find: readVectorList,
      reply: { data: [{ embedding: [1] }], usage: { prompt_tokens: -1, total_tokens: "3" } },
      want: { texts: ["[1]"], kinds: ["numbers"], input: undefined },
    },
    {
      name: "Google's single",
      find: readGoogle,
      reply: { embedding: { values: [1, 2] }, usageMetadata: { promptTokenCount: 4 } },
      want: { texts: ["[1,2]"], kinds: ["numbers"], input: 4 },
    },
    {
      name: "Google's batch",
      find: readGoogle,
      reply: { embeddings: [{ values: [1], statistics: {} }, { values: [2] }] },
      want: { texts: ["[1]", "[2]"], kinds: ["numbers", "numbers"], input: undefined },
    },
    { name: "none in Google's error", find: readGoogle, reply: { error: { code: 400 } }, want: undefined },
    {
      name: "Cohere's, in base64 where both are there",
      find: readCohere,
      reply: { embeddings: { float: [[1]], base64: ["AA=="] }, meta: { billed_units: { input_tokens: 2 } } },
      want: { texts: ['"AA=="'], kinds: ["text"], input: 2 },
    },
    { name: "none of Cohere's in bits", find: readCohere, reply: { embeddings: { int8: [[1]] } }, want: undefined },
    {
      name: "lists alone",
      find: readLists,
      reply: [[1], [2]],
      want: { texts: ["[1]", "[2]"], kinds: ["numbers", "numbers"], input: undefined },
    },
    { name: "no lists in an object", find: readLists, reply: { error: "no" }, want: undefined },
  ];
  for (const { name, find, reply, want } of rows) {
    it(`finds ${name}`, () => assert.deepEqual(describeFound(find, reply), want));
  }

  it("finds nothing in a body with something behind it, nor in half of one", () => {
    for (const text of [
      '{"data":[{"embedding":[1]}]}x',
      '{"data":[{"embedding":[1]}',
      '{"data":[{"embedding":[1,"]"]}]}',
    ]) {
      assert.throws(() => readVectorList(Buffer.from(text)), SyntaxError);
    }
  });
});
