import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { matchPassThrough, passedQuery, readPassThrough } from "#proxy/endpoints/pass-through/read-pass-through";
import { GatewayError } from "#proxy/errors";

const secret = "sk-abc-0123456789";

function queryOf(rawQuery: string, authName?: string): string {
  const match = matchPassThrough("GET", "files", "/files", `/v1/passthrough/files/files?${rawQuery}`);
  return passedQuery(readPassThrough(Buffer.alloc(0), match).query, secret, authName);
}

describe("the query of a call that is passed on", () => {
  for (const [given, want] of [
    ["", ""],
    ["&&a=1&&b=2&", "a=1&b=2"],
    ["limit=20&order=desc", "limit=20&order=desc"],
    ["include[]=a&include%5B%5D=b", "include[]=a&include%5B%5D=b"],
    ["flag", "flag"],
    ["a=b=c", "a=b=c"],
    ["a=%E2%82%AC", "a=%E2%82%AC"],
    ["a=1%3Bb", "a=1%3Bb"],
    ["key=1&KEY=2&api_key=3&apikey=4&access_token=5&a=6", "a=6"],
    [`a=${secret}&b=${secret.replaceAll("-", "%2d")}&c=1`, "c=1"],
    ["sig=1&SIG=2&a=3", "a=3", "sig"],
  ] as const) {
    const [, , authName] = [given, want, given.startsWith("sig") ? "sig" : undefined];
    it(`${given} goes on as ${want}`, () => assert.equal(queryOf(given, authName), want));
  }

  it("is refused with a semicolon, behind which some programs read the next name", () => {
    for (const text of ["limit=1;key=2", "limit=;", ";key=2"]) {
      assert.throws(
        () => queryOf(text),
        (error) => error instanceof GatewayError && error.code === "invalid_value",
      );
    }
  });

  it("holds nothing that ends it, whatever the client writes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii" }), (text) => {
        let passed: string;
        try {
          passed = queryOf(text);
        } catch (error) {
          assert.ok(error instanceof GatewayError && error.code === "invalid_value");
          return;
        }
        assert.match(passed, /^[!-~]*$/);
        assert.ok(!passed.includes("#") && !passed.includes("?") && !passed.includes(";"));
        assert.equal(new URLSearchParams(passed).get("key"), null);
      }),
    );
  });
});
