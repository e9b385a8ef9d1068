import assert from "node:assert/strict";
import { type ErrorCode, errorTable, GatewayError, type GatewayErrorOptions } from "#proxy/errors";
import { renderError } from "#proxy/formats/render-error";
import type { Protocol } from "#proxy/neutral/wire";

const context = { requestId: "req_1" };

function render(code: ErrorCode, protocol: Protocol, options: GatewayErrorOptions = {}, message = "M") {
  const { status, headers, body } = renderError(new GatewayError(code, message, options), protocol, context);
  return { status, headers, body: JSON.parse(body.toString()) };
}

describe("renderError", () => {
  for (const row of [
    {
      protocol: "OpenAI" as const,
      body: {
        error: { message: "M", type: "invalid_request_error", param: "messages[0].role", code: "invalid_value" },
      },
    },
    {
      protocol: "Anthropic" as const,
      body: {
        type: "error",
        error: { type: "invalid_request_error", message: "messages[0].role: M" },
        request_id: "req_1",
      },
    },
    {
      protocol: "Gemini" as const,
      body: {
        error: {
          code: 400,
          message: "M",
          status: "INVALID_ARGUMENT",
          details: [
            {
              "@type": "type.googleapis.com/google.rpc.BadRequest",
              fieldViolations: [{ field: "messages[0].role", description: "M" }],
            },
          ],
        },
      },
    },
  ]) {
    it(`shapes a parameter error for ${row.protocol} clients`, () => {
      const rendered = render("invalid_value", row.protocol, { param: "messages[0].role" });
      assert.equal(rendered.status, 400);
      assert.deepEqual(rendered.body, row.body);
    });
  }

  for (const row of [
    {
      name: "says 402 for billing to Anthropic clients",
      code: "insufficient_quota" as const,
      protocol: "Anthropic" as const,
      status: 402,
    },
    {
      name: "says 429 for quota to OpenAI clients",
      code: "insufficient_quota" as const,
      protocol: "OpenAI" as const,
      status: 429,
    },
    {
      name: "says 529 for overload to Anthropic clients",
      code: "no_available_channel" as const,
      protocol: "Anthropic" as const,
      status: 529,
    },
    {
      name: "says 503 for overload to Gemini clients",
      code: "no_available_channel" as const,
      protocol: "Gemini" as const,
      status: 503,
    },
  ]) {
    it(row.name, () => assert.equal(render(row.code, row.protocol).status, row.status));
  }

  for (const row of [
    { name: "names the request in both headers", code: "internal" as const, header: "x-request-id", want: "req_1" },
    { name: "names the request for Anthropic clients", code: "internal" as const, header: "request-id", want: "req_1" },
    {
      name: "never asks to wait longer than a minute",
      code: "rate_limited" as const,
      seconds: 3_600,
      header: "retry-after",
      want: "60",
    },
    {
      name: "asks to wait a second at least",
      code: "rate_limited" as const,
      seconds: 0,
      header: "retry-after",
      want: "1",
    },
    { name: "rounds a wait up", code: "rate_limited" as const, seconds: 1.2, header: "retry-after", want: "2" },
    {
      name: "tells SDKs not to retry a spent quota",
      code: "insufficient_quota" as const,
      header: "x-should-retry",
      want: "false",
    },
    {
      name: "says nothing of the kind for a rate",
      code: "rate_limited" as const,
      header: "x-should-retry",
      want: undefined,
    },
    { name: "asks for a Bearer on 401", code: "unknown_key" as const, header: "www-authenticate", want: "Bearer" },
    { name: "is JSON", code: "internal" as const, header: "content-type", want: "application/json" },
  ]) {
    it(row.name, () => {
      const options = row.seconds === undefined ? {} : { retryAfterSeconds: row.seconds };
      assert.equal(render(row.code, "OpenAI", options).headers[row.header], row.want);
    });
  }

  it("lists the methods of 405", () =>
    assert.equal(render("method_not_allowed", "OpenAI", { allow: "POST" }).headers["allow"], "POST"));

  it("begins with the words of docs/design/interface.md 7 when a quota is spent", () =>
    assert.match(render("insufficient_quota", "OpenAI").body.error.message, /^insufficient quota/));

  it("puts the real wait into the message when it is longer than what is sent", () =>
    assert.equal(
      render("rate_limited", "OpenAI", { retryAfterSeconds: 600 }).body.error.message,
      "M Retry in 600 seconds.",
    ));

  for (const row of [
    { protocol: "OpenAI" as const, words: /maximum context length/ },
    { protocol: "Anthropic" as const, words: /^prompt is too long:/ },
    { protocol: "Gemini" as const, words: /exceeds the maximum number of tokens allowed/ },
  ]) {
    it(`writes the words on which ${row.protocol} agents shorten their context`, () =>
      assert.match(render("context_length", row.protocol).body.error.message, row.words));
  }

  it("gives Google's reason for a bad key, and another for an expired one", () => {
    assert.equal(render("unknown_key", "Gemini").body.error.details[0].reason, "API_KEY_INVALID");
    assert.equal(render("key_expired", "Gemini").body.error.details[0].reason, "API_KEY_EXPIRED");
  });

  it("gives Google's RetryInfo for a rate and none for a quota", () => {
    assert.equal(render("rate_limited", "Gemini", { retryAfterSeconds: 7 }).body.error.details[0].retryDelay, "7s");
    assert.equal(render("insufficient_quota", "Gemini").body.error.details, undefined);
  });

  it("gives every code of the table a numeric Google code that its SDK recognises", () => {
    for (const code of Object.keys(errorTable) as ErrorCode[]) {
      const { error } = render(code, "Gemini").body;
      assert.ok(error.code >= 400 && error.code <= 599, code);
    }
  });
});
