import assert from "node:assert/strict";
import fc from "fast-check";
import { writeRequestHead } from "#proxy/http1/client/write-request-head";

const nothing = Buffer.alloc(0);

describe("writeRequestHead", () => {
  it("writes one host, one length and the headers in order", () => {
    const request = { path: "/v1/chat?alt=sse", headers: ["accept", "*/*", "x-a", "b\tc é"], body: Buffer.alloc(12) };
    const head = writeRequestHead("models.example.com:8443", request);
    assert.equal(
      head,
      "POST /v1/chat?alt=sse HTTP/1.1\r\nhost: models.example.com:8443\r\nconnection: keep-alive\r\n" +
        "accept: */*\r\nx-a: b\tc é\r\ncontent-length: 12\r\n\r\n",
    );
  });

  it("writes those that requests have in common first, each time", () => {
    const fixedHeaders = ["accept", "*/*"];
    const lines = ["1", "2"].map((value) =>
      writeRequestHead("a", { path: "/", fixedHeaders, headers: ["x-a", value], body: nothing }),
    );
    assert.deepEqual(
      lines.map((head) => head.split("\r\n").slice(3, 5)),
      [
        ["accept: */*", "x-a: 1"],
        ["accept: */*", "x-a: 2"],
      ],
    );
  });

  for (const row of [
    { name: "a line feed in a value", path: "/", headers: ["x-a", "b\nc: d"] },
    { name: "a carriage return in a value", path: "/", headers: ["x-a", "b\r"] },
    { name: "a NUL in a value", path: "/", headers: ["x-a", "b\0"] },
    { name: "a character beyond Latin-1 in a value", path: "/", headers: ["x-a", "\u2028"] },
    { name: "a line break that Latin-1 would make of a character", path: "/", headers: ["x-a", "\u010a"] },
    { name: "a colon in a name", path: "/", headers: ["x-a:b", "c"] },
    { name: "an empty name", path: "/", headers: ["", "c"] },
    { name: "a second length", path: "/", headers: ["Content-Length", "1"] },
    { name: "a coding", path: "/", headers: ["transfer-encoding", "chunked"] },
    { name: "a second host", path: "/", headers: ["HOST", "a"] },
    { name: "a space in the path", path: "/a HTTP/1.1", headers: [] },
    { name: "a line break in the path", path: "/a\r\nx: y", headers: [] },
    { name: "a path that is none", path: "http://other/", headers: [] },
  ]) {
    it(`refuses ${row.name}`, () => {
      const { path, headers } = row;
      const refused = { code: "HEADER_SYNTAX" };
      assert.throws(() => writeRequestHead("a", { path, headers, body: nothing }), refused);
      for (let time = 0; time < 2; time += 1) {
        if (headers.length === 0) break;
        assert.throws(
          () => writeRequestHead("a", { path, fixedHeaders: headers, headers: [], body: nothing }),
          refused,
        );
      }
    });
  }

  it("never lets a value begin a line of its own", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (value) => {
        let head: string;
        try {
          head = writeRequestHead("a", { path: "/", headers: ["x-a", value], body: nothing });
        } catch {
          return;
        }
        const onWire = Buffer.from(head, "latin1").toString("latin1");
        assert.equal(onWire.split(/\r\n|\r|\n/).length, 7);
      }),
      { numRuns: 1_000 },
    );
  });
});
