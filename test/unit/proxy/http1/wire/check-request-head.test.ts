import assert from "node:assert/strict";
import { checkRequestHead } from "#proxy/http1/wire/check-request-head";
import { HttpError } from "#proxy/http1/wire/http-error";
import { defaultLimits } from "#proxy/limits";

function describeHead(headers: readonly string[], version: "1.0" | "1.1" = "1.1", method = "POST"): string {
  try {
    checkRequestHead({ method, headers, version }, defaultLimits);
    return "fine";
  } catch (error) {
    assert.ok(error instanceof HttpError);
    return error.code;
  }
}

describe("checkRequestHead", () => {
  const many = (count: number): string[] => Array.from({ length: count }, (_, index) => [`x-${index}`, "v"]).flat();
  const rows: { name: string; headers: string[]; version?: "1.0" | "1.1"; want: string }[] = [
    {
      name: "an ordinary head",
      headers: ["Host", "a", "Content-Length", "2", "Connection", "keep-alive"],
      want: "fine",
    },
    { name: "100 headers", headers: many(99), want: "fine" },
    { name: "101 headers", headers: many(100), want: "HEAD_TOO_LARGE" },
    {
      name: "1,100 headers before a credential",
      headers: [...many(1_100), "authorization", "x"],
      want: "HEAD_TOO_LARGE",
    },
    { name: "two Host", headers: ["Host", "a", "HOST", "a"], want: "AMBIGUOUS_FRAMING" },
    { name: "chunked", headers: ["Transfer-Encoding", "Chunked"], want: "fine" },
    { name: "identity, chunked", headers: ["Transfer-Encoding", "identity, chunked"], want: "AMBIGUOUS_FRAMING" },
    { name: "gzip, chunked", headers: ["Transfer-Encoding", "gzip, chunked"], want: "AMBIGUOUS_FRAMING" },
    {
      name: "chunked over HTTP/1.0",
      headers: ["Transfer-Encoding", "chunked"],
      version: "1.0",
      want: "AMBIGUOUS_FRAMING",
    },
    {
      name: "two Transfer-Encoding",
      headers: ["transfer-encoding", "chunked", "transfer-encoding", "chunked"],
      want: "AMBIGUOUS_FRAMING",
    },
    {
      name: "two Content-Length",
      headers: ["content-length", "2", "Content-Length", "2"],
      want: "AMBIGUOUS_FRAMING",
    },
    { name: "100-continue", headers: ["Expect", "100-Continue"], want: "fine" },
    { name: "another expectation", headers: ["Expect", "200-ok"], want: "UNKNOWN_EXPECTATION" },
    {
      name: "two expectations",
      headers: ["Expect", "100-continue", "expect", "100-continue"],
      want: "UNKNOWN_EXPECTATION",
    },
  ];
  for (const { name, headers, version, want } of rows) {
    const hasHost = headers.some((header) => header.toLowerCase() === "host");
    const whole = hasHost ? headers : ["Host", "gateway.test", ...headers];
    it(`finds ${name}: ${want}`, () => assert.equal(describeHead(whole, version), want));
  }

  for (const [host, want] of [
    ["", "fine"],
    ["gateway.test", "fine"],
    ["under_score.test.:8080", "fine"],
    ["[2001:db8::1]:443", "fine"],
    ["gateway.test:", "fine"],
    ["gateway.test:65536", "AMBIGUOUS_FRAMING"],
    ["gateway.test:http", "AMBIGUOUS_FRAMING"],
    ["user@gateway.test", "AMBIGUOUS_FRAMING"],
    ["gateway.test/path", "AMBIGUOUS_FRAMING"],
    ["a, b", "AMBIGUOUS_FRAMING"],
    ["[::1", "AMBIGUOUS_FRAMING"],
    ["g\u00e4te.test", "AMBIGUOUS_FRAMING"],
  ] as const) {
    it(`finds Host '${host}': ${want}`, () => assert.equal(describeHead(["Host", host]), want));
  }

  for (const [headers, want] of [
    [[], { kind: "none" }],
    [["Content-Length", "0"], { kind: "length", bytes: 0 }],
    [["content-length", "007"], { kind: "length", bytes: 7 }],
    [["Content-Length", "999999999999999"], { kind: "length", bytes: 999_999_999_999_999 }],
    [["Transfer-Encoding", "CHUNKED"], { kind: "chunked" }],
  ] as const) {
    it(`tells where the body ends: ${headers.join(": ")}`, () => {
      const head = { method: "POST", version: "1.1" as const, headers: ["Host", "a", ...headers] };
      assert.deepEqual(checkRequestHead(head, defaultLimits), want);
    });
  }

  for (const length of ["", "+1", "-1", "1,1", "1 1", "0x1", "1e3", "1.0", "9999999999999999", "\u0661"]) {
    it(`refuses the length '${length}'`, () =>
      assert.equal(describeHead(["Host", "a", "Content-Length", length]), "AMBIGUOUS_FRAMING"));
  }

  it("refuses a length beside a coding, and CONNECT", () => {
    const both = ["Host", "a", "Transfer-Encoding", "chunked", "Content-Length", "1"];
    assert.equal(describeHead(both), "AMBIGUOUS_FRAMING");
    assert.equal(describeHead(["Host", "a"], "1.1", "CONNECT"), "UNSERVED_METHOD");
  });

  it("misses Host over HTTP/1.1 only", () => {
    assert.equal(describeHead([]), "AMBIGUOUS_FRAMING");
    assert.equal(describeHead([], "1.0"), "fine");
  });
});
