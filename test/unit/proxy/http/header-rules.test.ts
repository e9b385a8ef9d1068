import assert from "node:assert/strict";
import { clientHeaders, forwardableHeaders } from "#proxy/http/header-rules";
import { hasHeader, headerValues } from "#proxy/http1/wire/header-values";

describe("forwardableHeaders", () => {
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
    assert.deepEqual(forwardableHeaders("OpenAI", headers), {});
    assert.deepEqual(forwardableHeaders("Gemini", headers), {});
    assert.deepEqual(forwardableHeaders("Anthropic", headers), { "anthropic-version": "2023-06-01" });
  });

  it("passes a well-formed trace and drops any other", () => {
    assert.deepEqual(forwardableHeaders("OpenAI", ["Traceparent", trace, "tracestate", "a=1", "Tracestate", "b=2"]), {
      traceparent: trace,
      tracestate: "a=1,b=2",
    });
    assert.deepEqual(forwardableHeaders("OpenAI", ["traceparent", trace, "traceparent", trace]), {});
    assert.deepEqual(forwardableHeaders("OpenAI", ["traceparent", "anything", "tracestate", "a=1"]), {});
    assert.deepEqual(forwardableHeaders("OpenAI", ["tracestate", "a=1"]), {});
  });

  it("drops what Connection nominates", () => {
    const headers = ["Connection", "close, TraceParent", "connection", "anthropic-beta", "traceparent", trace];
    assert.deepEqual(forwardableHeaders("Anthropic", [...headers, "anthropic-beta", "b"]), {
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
      if (want === "bad_request_header") assert.throws(() => forwardableHeaders("Anthropic", headers), { code: want });
      else assert.equal(forwardableHeaders("Anthropic", headers)["anthropic-version"], want);
    });
  }

  it("joins betas, once each, without what is no name", () => {
    const headers = ["anthropic-beta", "a-1, b-2", "Anthropic-Beta", "b-2,,c 3,\u00e9, d.4"];
    assert.equal(forwardableHeaders("Anthropic", headers)["anthropic-beta"], "a-1,b-2,d.4");
    assert.equal(forwardableHeaders("OpenAI", headers)["anthropic-beta"], undefined);
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
