import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { allowsPath } from "#proxy/endpoints/pass-through/allowed-paths";

describe("allowsPath()", () => {
  for (const [template, path, want] of [
    ["/files", "/files", true],
    ["/files", "/files/", false],
    ["/files", "/filesx", false],
    ["/files", "/Files", false],
    ["/files", "/v1/files", false],
    ["/files/{id}", "/files/file-1.a_b~c", true],
    ["/files/{id}", "/files/a/b", false],
    ["/files/{id}", "/files/.a", false],
    ["/files/{id}", "/files/a:b", false],
    ["/files/{id}", "/files/a%2Fb", false],
    ["/files/{id}", "/files/", false],
    ["/files/{id}", `/files/${"a".repeat(256)}`, true],
    ["/files/{id}", `/files/${"a".repeat(257)}`, false],
    ["/files/{id}/content", "/files/a/content", true],
    ["/files/{id}/content", "/files/a/other", false],
    ["/a.b/{id}", "/aXb/1", false],
    ["/models/{model}:embed", "/models/m-1:embed", true],
    ["/models/{model}:embed", "/models/m-1:generate", false],
    ["/{a}/{b}", "/x/y", true],
    ["/{}", "/x", false],
  ] as const) {
    it(`${path} is ${want ? "" : "not "}one of ${template}`, () => assert.equal(allowsPath(template, path), want));
  }

  it("never lets a piece reach beyond its place", () => {
    fc.assert(
      fc.property(fc.string(), (piece) => {
        if (!allowsPath("/files/{id}/content", `/files/${piece}/content`)) return;
        assert.match(piece, /^[A-Za-z0-9_][A-Za-z0-9._~-]*$/);
        assert.equal(new URL(`http://h/files/${piece}/content`).pathname, `/files/${piece}/content`);
      }),
    );
  });
});
