/**
 * Every recorded reply through the whole gateway to a client of its own format: whole and cut into pieces of 1 byte, of
 * 7 bytes and of random sizes. The client learns every fact, gets the upstream's very bytes where nothing had to be
 * edited, never sees a stream that breaks its grammar or an error of ours as its own, and is billed what was reported.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { inputTokens, outputTokens, type TokenUsage } from "#proxy/settle/usage";
import { callFormOf } from "#test/support/conformance/chat-calls";
import { type HttpAnswer, httpCall } from "#test/support/conformance/http-call";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecretManifest,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { editedReplies, foreignGrammar } from "#test/support/conformance/recorded-edits";
import { expectedErrors } from "#test/support/conformance/recorded-errors";
import { cuts, replay } from "#test/support/conformance/replay";
import { compare } from "#test/support/digest/compare";
import { type Digest, digest } from "#test/support/digest/digest";
import { at, text } from "#test/support/digest/facts";
import { checkGrammar } from "#test/support/digest/grammar";
import { parseReply } from "#test/support/digest/parse-reply";
import { explainAbsence, type Recorded, readRecorded } from "#test/support/digest/recorded";
import { FakeUpstream } from "#test/support/fake-upstream";

const recorded = readRecorded();
const shortId = (reply: Recorded): string => reply.id.replace(/^upstream\//, "");
const isArray = (reply: Recorded): boolean => reply.id.includes("jsonarray");

describe("recorded replies through the gateway", () => {
  if (recorded === undefined) {
    it(explainAbsence("recorded replies through the gateway"));
    return;
  }
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;
  const billed = { tokens: 0n, requests: 0n };

  before(async () => {
    upstream = await FakeUpstream.start();
    gateway = await InProcessGateway.start({
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("main", { limits: [{ name: "all", unit: "Tokens", limit: "900000000", period: "Lifetime" }] }),
        keyManifest("other"),
        channelManifest("recorded", upstream.origin),
        routeManifest("recorded", { failover: { maxAttempts: 1 } }),
      ),
    });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  async function call(reply: Recorded): Promise<HttpAnswer> {
    const form = callFormOf(reply.protocol);
    const stream = reply.isStream || isArray(reply);
    const path = form.path("recorded", stream);
    return httpCall({
      origin: gateway.origin,
      path: isArray(reply) ? path.replace("?alt=sse", "") : path,
      headers: form.headers("main"),
      body: JSON.stringify(form.body("recorded", stream)),
    });
  }

  for (const reply of recorded) {
    it(`passes ${shortId(reply)}, however it is cut`, async () => {
      const said = digest(reply.protocol, reply.bytes(), reply.httpStatus);
      for (const { name, pieces } of cuts) {
        upstream.replyWith(replay(reply, pieces(reply.bytes().length)));
        const answer = await call(reply);
        const record = await gateway.recordOf(answer.header("x-request-id") ?? "");
        billed.tokens += BigInt(inputTokens(record.usage ?? noUsage) + outputTokens(record.usage ?? noUsage));
        if (said.status === "error") checkError(reply, said, answer, record.errorCode, name);
        else checkReply(reply, said, answer, name);
        if (said.status !== "error") checkUsage(said, record.usage, record.isEstimated, name);
      }
    });
  }

  for (const reply of recorded.filter(isArray)) {
    it(`sends ${shortId(reply)} as events to a client that asked for events`, async () => {
      const form = callFormOf(reply.protocol);
      for (const { name, pieces } of cuts) {
        upstream.replyWith(replay(reply, pieces(reply.bytes().length)));
        const answer = await httpCall({
          origin: gateway.origin,
          path: form.path("recorded", true),
          headers: form.headers("other"),
          body: JSON.stringify(form.body("recorded", true)),
        });
        assert.equal(answer.isComplete, true);
        assert.deepEqual(checkGrammar(reply.protocol, answer.body), [], name);
        const said = digest(reply.protocol, reply.bytes());
        assert.deepEqual(compare(said, digest(reply.protocol, answer.body), { sameProtocol: true }), [], name);
      }
    });
  }

  it("has posted to the ledger what was billed for each, and holds nothing back", () => {
    const counter = gateway.ledger.read("key/default/main/all");
    assert.equal(counter?.posted, billed.tokens);
    assert.equal(counter?.pending, 0n);
    assert.equal(gateway.ledger.openCount, 0);
  });

  it("names no recording that is not there", () => {
    const known = new Set(recorded.map(shortId));
    for (const id of [...Object.keys(editedReplies), ...Object.keys(foreignGrammar), ...Object.keys(expectedErrors)]) {
      assert.equal(known.has(id), true, id);
    }
    assert.equal(recorded.length, 165);
  });
});

const noUsage: TokenUsage = Object.freeze({
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
  audioInput: 0,
  audioOutput: 0,
  imageInput: 0,
  imageOutput: 0,
  searches: 0,
});

function checkReply(reply: Recorded, said: Digest, answer: HttpAnswer, cut: string): void {
  assert.equal(answer.status, 200, cut);
  assert.equal(answer.isComplete, true, `the answer ends cleanly ${cut}`);
  assert.deepEqual(
    compare(said, digest(reply.protocol, answer.body), { sameProtocol: true }),
    [],
    `facts are lost ${cut}`,
  );
  const isEdited = editedReplies[shortId(reply)] !== undefined;
  assert.equal(answer.body.equals(reply.bytes()), !isEdited, `the bytes pass unchanged unless listed, ${cut}`);
  if (!reply.isStream) {
    assert.equal(answer.header("content-type"), "application/json");
    return;
  }
  assert.equal(answer.header("content-type"), "text/event-stream; charset=utf-8");
  const known = foreignGrammar[shortId(reply)]?.problems ?? [];
  assert.deepEqual(checkGrammar(reply.protocol, answer.body), known, `grammar ${cut}`);
}

function checkUsage(said: Digest, usage: TokenUsage | undefined, isEstimated: boolean, cut: string): void {
  assert.ok(usage !== undefined, "every reply is billed");
  // A whole answer took something: an upstream that reports nothing but zeros has reported nothing.
  const isReported = said.usage !== null && said.usage.input + said.usage.output > 0;
  assert.equal(isEstimated, !isReported, `estimated only where the upstream gave no numbers, ${cut}`);
  if (said.usage === null || !isReported) return;
  const { input, output, cache_read, cache_write, reasoning } = said.usage;
  assert.deepEqual(
    {
      input: inputTokens(usage),
      output: outputTokens(usage),
      cacheRead: usage.cacheRead,
      cacheWrite: usage.cacheWrite + usage.cacheWrite1h,
      reasoning: usage.reasoning,
    },
    { input, output, cacheRead: cache_read, cacheWrite: cache_write, reasoning: reasoning ?? 0 },
    `settled usage ${cut}`,
  );
}

function checkError(reply: Recorded, said: Digest, answer: HttpAnswer, code: string | undefined, cut: string): void {
  const expected = expectedErrors[shortId(reply)];
  assert.ok(expected !== undefined, "every recorded error is in the table");
  assert.equal(code, expected.code, cut);
  assert.equal(answer.status, expected.status, cut);
  assert.equal(answer.header("retry-after"), expected.retryAfter, cut);
  const body = reply.isStream ? lastEvent(answer.body) : answer.json();
  assert.equal(wordOf(reply, body), expected.word, cut);
  assert.match(text(at(body, "error", "message")), expected.message, cut);
  assert.doesNotMatch(answer.body.toString(), /https?:\/\/|conformance-upstream-secret|api\.openai|user_2wT/i, cut);
  if (!reply.isStream) return;
  assert.equal(answer.isComplete, reply.protocol !== "gemini", `a failed stream ends as its format wants, ${cut}`);
  const told = digest(reply.protocol, answer.body);
  assert.equal(told.status, "error");
  assert.equal(told.text, said.text, "all text before the error has gone to the client");
  assert.doesNotMatch(answer.body.toString(), /\[DONE\]|message_stop|response\.completed/);
}

/** The error as the stream's last words tell it; `response.failed` stands behind `error`. */
function lastEvent(body: Buffer): unknown {
  const events = parseReply(body).events ?? [];
  return events.findLast((event) => event.name !== "response.failed")?.json;
}

function wordOf(reply: Recorded, body: unknown): unknown {
  const member = { "openai-chat": "code", "openai-responses": "code", "anthropic-messages": "type", gemini: "status" };
  return at(body, "error", member[reply.protocol]);
}
