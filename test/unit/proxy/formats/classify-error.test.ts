import assert from "node:assert/strict";
import { classifyErrorEvent, classifyErrorReply } from "#proxy/formats/classify-error";

const now = Date.UTC(2026, 0, 1);

function openai(type: string, code: string | null = null, message = "m"): object {
  return { error: { message, type, param: null, code } };
}
function anthropic(type: string, message = "m"): object {
  return { type: "error", error: { type, message }, request_id: "req_1" };
}
function google(status: string, message = "m", details: object[] = []): object {
  return { error: { code: 1, message, status, details } };
}

describe("classifyErrorReply", () => {
  for (const row of [
    {
      name: "OpenAI parameter",
      status: 400,
      body: openai("invalid_request_error", "invalid_value"),
      kind: "bad_request",
    },
    {
      name: "validation of FastAPI",
      status: 422,
      body: { detail: [{ loc: ["body", "x"], msg: "field required", type: "missing" }] },
      kind: "bad_request",
    },
    {
      name: "OpenAI context",
      status: 400,
      body: openai("invalid_request_error", "context_length_exceeded"),
      kind: "context_length",
    },
    {
      name: "Anthropic context",
      status: 400,
      body: anthropic("invalid_request_error", "prompt is too long: 3 tokens > 2 maximum"),
      kind: "context_length",
    },
    {
      name: "Google context",
      status: 400,
      body: google("INVALID_ARGUMENT", "The input token count (3) exceeds the maximum number of tokens allowed (2)."),
      kind: "context_length",
    },
    {
      name: "Azure filter",
      status: 400,
      body: {
        error: { code: "content_filter", message: "filtered", innererror: { code: "ResponsibleAIPolicyViolation" } },
      },
      kind: "policy",
    },
    {
      name: "unsupported parameter",
      status: 400,
      body: openai("invalid_request_error", "unsupported_parameter"),
      kind: "capability",
    },
    {
      name: "capability by its words",
      status: 400,
      body: anthropic("invalid_request_error", "this model does not support tools"),
      kind: "capability",
    },
    { name: "OpenAI key", status: 401, body: openai("invalid_request_error", "invalid_api_key"), kind: "channel_auth" },
    {
      name: "Google key, which is a 400",
      status: 400,
      body: google("INVALID_ARGUMENT", "API key not valid.", [{ reason: "API_KEY_INVALID" }]),
      kind: "channel_auth",
    },
    {
      name: "country",
      status: 403,
      body: openai("invalid_request_error", "unsupported_country_region_territory"),
      kind: "channel_auth",
    },
    {
      name: "spent quota, which is a 429",
      status: 429,
      body: openai("insufficient_quota", "insufficient_quota"),
      kind: "channel_quota",
    },
    { name: "payment", status: 402, body: { detail: "pay" }, kind: "channel_quota" },
    {
      name: "low credit, which is a 400",
      status: 400,
      body: anthropic("invalid_request_error", "Your credit balance is too low to access the API."),
      kind: "channel_quota",
    },
    {
      name: "a spent budget, which is a 400",
      status: 400,
      body: anthropic(
        "invalid_request_error",
        "You have reached your specified API usage limits. You will regain access on 2026-02-01 at 00:00 UTC.",
      ),
      kind: "channel_quota",
    },
    {
      name: "low credit as a relay says it",
      status: 400,
      body: { error: { message: "Your credit balance is too low to access the API. (request id: 2025-abc)" } },
      kind: "channel_quota",
    },
    {
      name: "low credit as another relay says it",
      status: 400,
      body: { error: { message: "litellm.BadRequestError: AnthropicException - Your credit balance is too low" } },
      kind: "channel_quota",
    },
    {
      name: "a bad key and no more",
      status: 400,
      body: { error: { message: "Invalid API key" } },
      kind: "channel_auth",
    },
    {
      name: "a spent balance and no more",
      status: 400,
      body: { error: { message: "Insufficient Balance" } },
      kind: "channel_quota",
    },
    {
      name: "xAI's bad key, which is a 400",
      status: 400,
      body: {
        code: "Client specified an invalid argument",
        error: "Incorrect API key provided: ab***yz. You can obtain an API key from https://console.x.ai.",
      },
      kind: "channel_auth",
    },
    {
      name: "low balance, which is a 429",
      status: 429,
      body: { error: { message: "Account 7: insufficient balance" } },
      kind: "channel_quota",
    },
    { name: "model", status: 404, body: openai("invalid_request_error", "model_not_found"), kind: "channel_config" },
    {
      name: "Azure deployment",
      status: 404,
      body: { error: { code: "DeploymentNotFound", message: "m" } },
      kind: "channel_config",
    },
    { name: "timeout", status: 408, body: {}, kind: "timeout" },
    { name: "gateway timeout", status: 504, body: "", kind: "timeout" },
    { name: "conflict", status: 409, body: {}, kind: "conflict" },
    { name: "size", status: 413, body: anthropic("request_too_large"), kind: "too_large" },
    { name: "rate", status: 429, body: anthropic("rate_limit_error"), kind: "rate_limit" },
    {
      name: "Google's rate, whose message says quota",
      status: 429,
      body: google("RESOURCE_EXHAUSTED", "You exceeded your current quota"),
      kind: "rate_limit",
    },
    { name: "overload", status: 529, body: anthropic("overloaded_error"), kind: "overloaded" },
    { name: "unavailable", status: 503, body: "<html>busy</html>", kind: "overloaded" },
    { name: "server error", status: 500, body: openai("server_error"), kind: "upstream_5xx" },
    { name: "HTML of a proxy on a 4xx", status: 403, body: "<!doctype html><title>no</title>", kind: "upstream_5xx" },
    { name: "redirect", status: 302, body: "", kind: "upstream_5xx" },
    { name: "status nobody knows", status: 999, body: "", kind: "upstream_5xx" },
    {
      name: "server error that mentions a permission",
      status: 500,
      body: openai("permission_error"),
      kind: "upstream_5xx",
    },
  ]) {
    it(`sorts ${row.name} as ${row.kind}`, () => {
      const body = Buffer.from(typeof row.body === "string" ? row.body : JSON.stringify(row.body));
      assert.equal(classifyErrorReply(row.status, {}, body, now).kind, row.kind);
    });
  }

  for (const row of [
    { name: "an object", body: '{"error":{"message":"a"}}', want: "a" },
    { name: "a string", body: '{"error":"b"}', want: "b" },
    { name: "Google's array", body: '[{"error":{"message":"c"}}]', want: "c" },
    { name: "FastAPI's text", body: '{"detail":"d"}', want: "d" },
    { name: "FastAPI's list", body: '{"detail":[{"msg":"e"}]}', want: "e" },
    { name: "a message", body: '{"message":"f"}', want: "f" },
    { name: "a list of errors", body: '{"errors":[{"message":"g"}]}', want: "g" },
    { name: "code and msg", body: '{"code":5,"msg":"h"}', want: "h" },
    { name: "plain text", body: "i", want: "i" },
    { name: "nothing of HTML", body: "<html>secret host</html>", want: "" },
    { name: "nothing", body: "", want: "" },
  ]) {
    it(`finds the text in ${row.name}`, () =>
      assert.equal(classifyErrorReply(400, {}, Buffer.from(row.body), now).message, row.want));
  }

  it("keeps at most 256 kB of text", () => {
    const body = Buffer.from("x".repeat(300 * 1024));
    assert.equal(classifyErrorReply(400, {}, body, now).message.length, 256 * 1024);
  });

  for (const row of [
    { name: "a bad key", words: "invalid api key" },
    { name: "Google's bad key", words: "API key not valid. Please pass a valid API key." },
    {
      name: "xAI's bad key",
      words: "Incorrect API key provided: ab***yz. You can obtain an API key from https://x.ai.",
    },
    { name: "a spent quota", words: "insufficient quota" },
    { name: "Anthropic's low credit", words: "Your credit balance is too low to access the API." },
    { name: "Anthropic's spent budget", words: "You have reached your specified API usage limits." },
  ]) {
    for (const message of [
      `Invalid value: '${row.words}'. Supported values are: 'low' and 'high'.`,
      `Invalid value: '' ${row.words} ''. Supported values are: 'low' and 'high'.`,
      `${row.words}: Extra inputs are not permitted`,
      `"${row.words}" is no model.`,
    ]) {
      for (const status of [400, 404, 422, 500]) {
        it(`takes a client's words for nothing of ours: ${status} ${message}`, () => {
          const body = Buffer.from(JSON.stringify(openai("invalid_request_error", "invalid_value", message)));
          const { kind } = classifyErrorReply(status, {}, body, now);
          assert.ok(kind !== "channel_auth" && kind !== "channel_quota", kind);
        });
      }
    }
  }

  for (const row of [
    { name: "seconds", headers: { "retry-after": "7" }, want: 7_000 },
    { name: "milliseconds first", headers: { "retry-after-ms": "250", "retry-after": "7" }, want: 250 },
    { name: "a date", headers: { "retry-after": new Date(now + 9_000).toUTCString() }, want: 9_000 },
    { name: "a date gone by", headers: { "retry-after": new Date(now - 9_000).toUTCString() }, want: 0 },
    { name: "at most a day of it", headers: { "retry-after": "1000000000" }, want: 86_400_000 },
    { name: "nothing of nonsense", headers: { "retry-after": "soon" }, want: undefined },
  ]) {
    it(`reads a wait given as ${row.name}`, () =>
      assert.equal(classifyErrorReply(429, row.headers, Buffer.from(""), now).retryAfterMs, row.want));
  }

  it("reads Google's RetryInfo", () => {
    const body = Buffer.from(JSON.stringify(google("RESOURCE_EXHAUSTED", "m", [{ retryDelay: "34.07s" }])));
    assert.equal(classifyErrorReply(429, {}, body, now).retryAfterMs, 34_070);
  });
});

describe("classifyErrorEvent", () => {
  for (const row of [
    { name: "Anthropic's overload", json: anthropic("overloaded_error"), kind: "overloaded", status: 529 },
    {
      name: "a status that the body states",
      json: { error: { code: 503, message: "m", status: "UNAVAILABLE" } },
      kind: "overloaded",
      status: 503,
    },
    {
      name: "an error of a response",
      json: { type: "response.failed", response: { error: { code: "rate_limit_exceeded", message: "m" } } },
      kind: "rate_limit",
      status: 429,
    },
    {
      name: "the flat form of the responses API",
      json: { type: "error", code: "server_error", message: "m" },
      kind: "upstream_5xx",
      status: 500,
    },
    { name: "an error without any word", json: { error: "boom" }, kind: "upstream_5xx", status: 500 },
  ]) {
    it(`sorts ${row.name} as ${row.kind}`, () => {
      const { kind, status } = classifyErrorEvent(row.json);
      assert.deepEqual({ kind, status }, { kind: row.kind, status: row.status });
    });
  }
});
