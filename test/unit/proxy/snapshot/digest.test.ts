import assert from "node:assert/strict";
import fc from "fast-check";
import {
  addVersion,
  bucketCount,
  bucketOf,
  CanonicalFormError,
  canonicalJson,
  decodeSums,
  emptySums,
  encodeSums,
  fleetDigest,
  objectVersion,
  subtractVersion,
} from "#proxy/snapshot/digest";

describe("digest", () => {
  it("writes equal values alike whatever the order of their members", () => {
    assert.equal(canonicalJson({ b: [1, { d: null, c: "é\n" }], a: true }), '{"a":true,"b":[1,{"c":"é\\n","d":null}]}');
    assert.equal(canonicalJson({ a: true, b: undefined }), '{"a":true}');
  });

  it("canonical JSON parses back to the value it came from", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        assert.deepEqual(JSON.parse(canonicalJson(plain)), plain);
      }),
    );
  });

  it("refuses a value nested too deeply instead of overflowing the stack", () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 10_000; depth += 1) value = [value];
    assert.throws(() => canonicalJson(value), CanonicalFormError);
  });

  it("gives an object under another id or with another member another version", () => {
    const version = objectVersion("key/a/b", { x: 1, y: 2 }).version;
    assert.match(version, /^[0-9a-f]{16}$/);
    assert.equal(objectVersion("key/a/b", { y: 2, x: 1 }).version, version);
    assert.notEqual(objectVersion("key/a/c", { x: 1, y: 2 }).version, version);
    assert.notEqual(objectVersion("key/a/b", { x: 1, y: 3 }).version, version);
  });

  it("sums are independent of order and come back to zero", () => {
    const versions = fc.array(fc.tuple(fc.nat(255), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })), { maxLength: 50 });
    fc.assert(
      fc.property(versions, (entries) => {
        const forwards = emptySums();
        const backwards = emptySums();
        const hex = (version: bigint) => version.toString(16).padStart(16, "0");
        for (const [bucket, version] of entries) addVersion(forwards, bucket, hex(version));
        for (const [bucket, version] of [...entries].reverse()) addVersion(backwards, bucket, hex(version));
        assert.equal(fleetDigest(forwards), fleetDigest(backwards));
        for (const [bucket, version] of entries) subtractVersion(forwards, bucket, hex(version));
        assert.deepEqual(forwards, emptySums());
      }),
    );
  });

  it("sums survive their way as text", () => {
    const sums = emptySums();
    addVersion(sums, 0, "ffffffffffffffff");
    addVersion(sums, 255, "0123456789abcdef");
    assert.deepEqual(decodeSums(encodeSums(sums)), sums);
    assert.ok(encodeSums(sums).length < 3 * 1024, "a hello stays small");
    assert.equal(decodeSums("AAAA"), undefined);
  });

  it("spreads ids of one pattern over all buckets evenly", () => {
    const counts = new Array<number>(bucketCount).fill(0);
    for (let index = 0; index < 100_000; index += 1) {
      const bucket = bucketOf(`key/team-a/key-${index}`);
      counts[bucket] = (counts[bucket] ?? 0) + 1;
    }
    assert.ok(Math.max(...counts) < 800, `largest bucket ${Math.max(...counts)}`);
    assert.ok(Math.min(...counts) > 100, `smallest bucket ${Math.min(...counts)}`);
  });
});
