import assert from "node:assert/strict";
import { classifyErrorReply } from "#proxy/formats/classify-error";
import { cleanUpstreamText, toClientError } from "#proxy/formats/client-error";
import type { UpstreamError } from "#proxy/formats/format";

const context = { publicModel: "smart", upstreamModel: "gpt-5-2026", requestId: "req_9" };

function upstreamError(
  kind: UpstreamError["kind"],
  message: string,
  changes: Partial<UpstreamError> = {},
): UpstreamError {
  return { kind, status: 400, message, param: undefined, retryAfterMs: undefined, ...changes };
}

describe("toClientError", () => {
  for (const row of [
    { kind: "bad_request" as const, code: "upstream_bad_request", passes: true },
    { kind: "context_length" as const, code: "context_length", passes: true },
    { kind: "policy" as const, code: "content_policy", passes: true },
    { kind: "capability" as const, code: "unsupported_parameter", passes: false },
    { kind: "channel_auth" as const, code: "channel_refused", passes: false },
    { kind: "channel_quota" as const, code: "channel_refused", passes: false },
    { kind: "channel_config" as const, code: "upstream_model_not_found", passes: false },
    { kind: "timeout" as const, code: "upstream_timeout", passes: false },
    { kind: "conflict" as const, code: "upstream_conflict", passes: false },
    { kind: "too_large" as const, code: "upstream_too_large", passes: false },
    { kind: "rate_limit" as const, code: "upstream_rate_limited", passes: false },
    { kind: "upstream_5xx" as const, code: "upstream_error", passes: false },
    { kind: "overloaded" as const, code: "upstream_overloaded", passes: false },
  ]) {
    it(`${row.passes ? "passes" : "withholds"} the text of ${row.kind}`, () => {
      const error = toClientError(upstreamError(row.kind, "upstream words"), context);
      assert.equal(error.code, row.code);
      assert.equal(error.message.includes("upstream words"), row.passes);
      if (!row.passes) assert.match(error.message, /req_9/);
    });
  }

  it("keeps the field and the wait", () => {
    const error = toClientError(upstreamError("bad_request", "m", { param: "n", retryAfterMs: 1_500 }), context);
    assert.equal(error.param, "n");
    assert.equal(error.retryAfterSeconds, 2);
  });

  for (const [name, kind, param] of [
    ["what looks like a key", "bad_request", "sk-abcdefgh"],
    ["the channel's own secret", "bad_request", "channel-secret"],
    ["a field where the request is not at fault", "channel_auth", "n"],
  ] as const) {
    it(`takes ${name} for no field`, () => {
      const error = toClientError(upstreamError(kind, "m", { param }), {
        ...context,
        channelSecrets: ["channel-secret"],
      });
      assert.equal(error.param, undefined);
    });
  }

  it("says nothing of the channel's secret, in any spelling", () => {
    const secret = "se/cret+of-channel";
    const bytes = Buffer.from(secret);
    const encoded = [secret, encodeURIComponent(secret), bytes.toString("base64"), bytes.toString("hex")];
    const text = `bad key: ${encoded.join(" ")}`;
    const error = toClientError(upstreamError("bad_request", text), { ...context, channelSecrets: [secret] });
    for (const spelling of encoded) assert.equal(error.message.includes(spelling), false);
  });

  it("says nothing of a secret that stands where its text is cut", () => {
    const secret = "channel-secret-0123456789";
    for (let padding = 2_000; padding <= 2_060; padding += 1) {
      const body = Buffer.from(JSON.stringify({ error: { message: `${"y".repeat(padding)} token=${secret} is bad` } }));
      const read = classifyErrorReply(400, {}, body, 0);
      const { message } = toClientError(read, { ...context, channelSecrets: [secret] });
      assert.ok(message.length <= 2_048, `${message.length}`);
      assert.equal(message.includes("chan"), false, message);
    }
  });

  it("says nothing of a secret in which the reply broke off", () => {
    const secret = "channel-secret-0123456789";
    for (let length = 4; length <= secret.length; length += 1) {
      const body = Buffer.from(`{"error":{"message":"token=${secret.slice(0, length)}`);
      const read = classifyErrorReply(400, {}, body, 0);
      const { message } = toClientError(read, { ...context, channelSecrets: [secret] });
      assert.equal(message, '{"error":{"message":"token=[key]');
    }
  });

  it("finds a secret that begins with another one", () => {
    const channelSecrets = ["channel-secret", "channel-secret-of-the-other"];
    const { message } = toClientError(upstreamError("bad_request", `token=${channelSecrets[1]}.`), {
      ...context,
      channelSecrets,
    });
    assert.equal(message, "token=[key].");
  });
});

describe("cleanUpstreamText", () => {
  it("keeps at most 2 kB, and no half of an address", () => {
    assert.equal(cleanUpstreamText("x".repeat(5_000), context).length, 2_048);
    const text = cleanUpstreamText(`${"ab ".repeat(680)}upstream.svc.cluster.local`, context);
    assert.equal(text, "ab ".repeat(680).trim());
  });

  for (const row of [
    { name: "puts the public model name", text: "The model `gpt-5-2026` is busy", want: "The model `smart` is busy" },
    {
      name: "does not touch a longer name",
      text: "gpt-5-2026-mini and my-gpt-5-2026",
      want: "gpt-5-2026-mini and my-gpt-5-2026",
    },
    { name: "replaces a name at the end of a sentence", text: "no gpt-5-2026.", want: "no smart." },
    { name: "removes keys", text: "key sk-abc123def456 is bad", want: "key [key] is bad" },
    { name: "removes masked keys", text: "sk-ab**********xy", want: "[key]" },
    { name: "removes Google keys", text: "AIzaSyA1234567890", want: "[key]" },
    { name: "removes organisations", text: "in org-AbCd1234 of proj_99xyz", want: "in [account] of [account]" },
    { name: "removes addresses", text: "see https://platform.example.com/a?b=c now", want: "see [address] now" },
    { name: "removes hosts", text: "dial upstream.svc.cluster.local:8080 failed", want: "dial [address] failed" },
    { name: "removes IP addresses", text: "from 10.1.2.3:443", want: "from [address]" },
    { name: "removes markup", text: "<b>bad</b> <script>x</script>", want: "bad x" },
    { name: "removes control characters", text: "a\u0000b\u001b[31mc", want: "a b [31mc" },
    { name: "keeps ordinary words", text: "max_tokens must be at most 4096", want: "max_tokens must be at most 4096" },
  ]) {
    it(row.name, () => assert.equal(cleanUpstreamText(row.text, context), row.want));
  }
});
