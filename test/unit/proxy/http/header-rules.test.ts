import assert from "node:assert/strict";
import { GatewayError } from "../../../../proxy/errors.ts";
import { checkRequestHead, clientHeaders, upstreamHeaders } from "../../../../proxy/http/header-rules.ts";
import { hasHeader, headerValues } from "../../../../proxy/http/header-values.ts";
import { defaultLimits } from "../../../../proxy/limits.ts";

function describeHead(headers: readonly string[], version: "1.0" | "1.1" = "1.1", method = "POST"): string {
  try {
    checkRequestHead({ method, headers, version }, defaultLimits);
    return "fine";
  } catch (error) {
    assert.ok(error instanceof GatewayError);
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
    { name: "101 headers", headers: many(100), want: "headers_too_large" },
    {
      name: "1,100 headers before a credential",
      headers: [...many(1_100), "authorization", "x"],
      want: "headers_too_large",
    },
    { name: "two Host", headers: ["Host", "a", "HOST", "a"], want: "bad_request_framing" },
    { name: "chunked", headers: ["Transfer-Encoding", "Chunked"], want: "fine" },
    { name: "identity, chunked", headers: ["Transfer-Encoding", "identity, chunked"], want: "bad_request_framing" },
    { name: "gzip, chunked", headers: ["Transfer-Encoding", "gzip, chunked"], want: "bad_request_framing" },
    {
      name: "chunked over HTTP/1.0",
      headers: ["Transfer-Encoding", "chunked"],
      version: "1.0",
      want: "bad_request_framing",
    },
    {
      name: "two Transfer-Encoding",
      headers: ["transfer-encoding", "chunked", "transfer-encoding", "chunked"],
      want: "bad_request_framing",
    },
    {
      name: "two Content-Length",
      headers: ["content-length", "2", "Content-Length", "2"],
      want: "bad_request_framing",
    },
    { name: "100-continue", headers: ["Expect", "100-Continue"], want: "fine" },
    { name: "another expectation", headers: ["Expect", "200-ok"], want: "expectation_failed" },
    {
      name: "two expectations",
      headers: ["Expect", "100-continue", "expect", "100-continue"],
      want: "expectation_failed",
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
    ["gateway.test:65536", "bad_request_framing"],
    ["gateway.test:http", "bad_request_framing"],
    ["user@gateway.test", "bad_request_framing"],
    ["gateway.test/path", "bad_request_framing"],
    ["a, b", "bad_request_framing"],
    ["[::1", "bad_request_framing"],
    ["g\u00e4te.test", "bad_request_framing"],
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
      assert.equal(describeHead(["Host", "a", "Content-Length", length]), "bad_request_framing"));
  }

  it("refuses a length beside a coding, and CONNECT", () => {
    const both = ["Host", "a", "Transfer-Encoding", "chunked", "Content-Length", "1"];
    assert.equal(describeHead(both), "bad_request_framing");
    assert.equal(describeHead(["Host", "a"], "1.1", "CONNECT"), "method_not_allowed");
  });

  it("misses Host over HTTP/1.1 only", () => {
    assert.equal(describeHead([]), "bad_request_framing");
    assert.equal(describeHead([], "1.0"), "fine");
  });
});

describe("upstreamHeaders", () => {
  const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  it("lets nothing through that is on no list", () => {
    const names = [
      ...[
        "authorization",
        "x-api-key",
        "x-goog-api-key",
        "cookie",
        "host",
        "content-length",
        "transfer-encoding",
        "te",
      ],
      ...["x-forwarded-for", "forwarded", "user-agent", "x-stainless-lang", "x-goog-api-client", "x-server-timeout"],
      ...[
        "openai-organization",
        "openai-project",
        "idempotency-key",
        "proxy-authorization",
        "upgrade",
        "x-tollgate-key",
      ],
      ...["content-encoding", "accept-encoding", "origin", "referer", "anthropic_beta", "__proto__"],
    ];
    const headers = names.flatMap((name) => [name, "canary"]);
    assert.deepEqual(upstreamHeaders("OpenAI", headers), {});
    assert.deepEqual(upstreamHeaders("Gemini", headers), {});
    assert.deepEqual(upstreamHeaders("Anthropic", headers), { "anthropic-version": "2023-06-01" });
  });

  it("passes a well-formed trace and drops any other", () => {
    assert.deepEqual(upstreamHeaders("OpenAI", ["Traceparent", trace, "tracestate", "a=1", "Tracestate", "b=2"]), {
      traceparent: trace,
      tracestate: "a=1,b=2",
    });
    assert.deepEqual(upstreamHeaders("OpenAI", ["traceparent", trace, "traceparent", trace]), {});
    assert.deepEqual(upstreamHeaders("OpenAI", ["traceparent", "anything", "tracestate", "a=1"]), {});
    assert.deepEqual(upstreamHeaders("OpenAI", ["tracestate", "a=1"]), {});
  });

  it("drops what Connection nominates", () => {
    const headers = ["Connection", "close, TraceParent", "connection", "anthropic-beta", "traceparent", trace];
    assert.deepEqual(upstreamHeaders("Anthropic", [...headers, "anthropic-beta", "b"]), {
      "anthropic-version": "2023-06-01",
    });
  });

  const versions: { name: string; headers: string[]; want: string }[] = [
    { name: "none", headers: [], want: "2023-06-01" },
    { name: "the newer", headers: ["Anthropic-Version", "2026-10-21"], want: "2026-10-21" },
    { name: "the neutral spelling", headers: ["vendorb-version", "2023-06-01"], want: "2023-06-01" },
    {
      name: "both spellings that agree",
      headers: ["vendorb-version", "2023-06-01", "anthropic-version", "2023-06-01"],
      want: "2023-06-01",
    },
    {
      name: "both spellings that differ",
      headers: ["vendorb-version", "2023-06-01", "anthropic-version", "2026-10-21"],
      want: "bad_request_header",
    },
    { name: "no date", headers: ["anthropic-version", "latest"], want: "bad_request_header" },
  ];
  for (const { name, headers, want } of versions) {
    it(`reads the version when given ${name} as ${want}`, () => {
      if (want === "bad_request_header") assert.throws(() => upstreamHeaders("Anthropic", headers), { code: want });
      else assert.equal(upstreamHeaders("Anthropic", headers)["anthropic-version"], want);
    });
  }

  it("joins betas, once each, without what is no name", () => {
    const headers = ["anthropic-beta", "a-1, b-2", "Anthropic-Beta", "b-2,,c 3,\u00e9, d.4"];
    assert.equal(upstreamHeaders("Anthropic", headers)["anthropic-beta"], "a-1,b-2,d.4");
    assert.equal(upstreamHeaders("OpenAI", headers)["anthropic-beta"], undefined);
  });
});

describe("clientHeaders", () => {
  it("gives the client nothing of the account behind, and no framing", () => {
    const names = [
      ...[
        "openai-organization",
        "openai-project",
        "anthropic-organization-id",
        "anthropic-workspace-id",
        "set-cookie",
        "server",
      ],
      ...["cf-ray", "via", "x-goog-request-id", "x-ratelimit-limit-requests", "anthropic-ratelimit-requests-limit"],
      ...[
        "request-id",
        "x-request-id",
        "content-length",
        "content-encoding",
        "transfer-encoding",
        "connection",
        "location",
      ],
    ];
    assert.deepEqual(clientHeaders(names.flatMap((name) => [name, "canary"])), []);
  });

  it("passes the two harmless ones, when they are plain text and not nominated", () => {
    assert.deepEqual(clientHeaders(["openai-processing-ms", "12", "openai-version", "2020-10-01"]), [
      "openai-processing-ms",
      "12",
      "openai-version",
      "2020-10-01",
    ]);
    assert.deepEqual(
      clientHeaders(["openai-processing-ms", "1\r\nx: y", "openai-version", "a", "openai-version", "b"]),
      [],
    );
    assert.deepEqual(clientHeaders(["connection", "close, OpenAI-Version", "openai-version", "2020-10-01"]), []);
  });
});

describe("headerValues", () => {
  const headers = ["X-Api-Key", "a", "x-api-key", "b", "x_api_key", "c", "x-api-keys", "d"];
  it("finds every field of the name whatever its case, and no other", () => {
    assert.deepEqual(headerValues(headers, "x-api-key"), ["a", "b"]);
    assert.deepEqual(headerValues(headers, "absent"), []);
    assert.equal(hasHeader(headers, "x-api-key"), true);
    assert.equal(hasHeader(headers, "x-api-kex"), false);
  });

  it("does not take a value for a name", () => {
    assert.deepEqual(headerValues(["x", "authorization", "y", "z"], "authorization"), []);
  });
});
