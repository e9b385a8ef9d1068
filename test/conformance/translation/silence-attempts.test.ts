/**
 * pitfalls 156 and 166: what becomes of a stream whose client has heard that its answer lives: another target answers
 * as if it had been the first, a failure is the format's, whoever leaves is let go, and the record tells no more than
 * happened.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { callFormOf, callForms } from "#test/support/conformance/chat-calls";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecretManifest,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { type OpenStream, openStream } from "#test/support/conformance/open-stream";
import { digest } from "#test/support/digest/digest";
import type { DigestProtocol } from "#test/support/digest/facts";
import { checkGrammar } from "#test/support/digest/grammar";
import { FakeUpstream, type ScriptedReply } from "#test/support/fake-upstream";
import { formatNamed } from "#test/support/resilience/formats";
import { waitFor } from "#test/support/wait-for";

const events = { "content-type": "text/event-stream" };
/** Several times as long as a client may be told nothing. */
const silentMs = 60;
const providers = {
  "openai-chat": "OpenAICompatible",
  "openai-responses": "OpenAI",
  "anthropic-messages": "Anthropic",
  gemini: "Gemini",
} as const;

const comments = ": OPENROUTER PROCESSING\n\n".repeat(20);

/** How the first target fails; nothing of an answer has come from it. */
const faults: readonly { readonly name: string; readonly script: ScriptedReply }[] = [
  { name: "refuses", script: { status: 503, delayHeadMs: silentMs, body: '{"error":{"message":"busy"}}' } },
  {
    name: "breaks",
    script: { headers: events, body: "x".repeat(9), delayHeadMs: silentMs, cutAt: 0, cutWith: "reset" },
  },
  { name: "ends without an event", script: { headers: events, body: "", framing: "chunked", delayHeadMs: silentMs } },
  { name: "says comments and ends", script: { headers: events, body: comments, fragmentBytes: 100, delayPieceMs: 12 } },
  {
    name: "says comments and an error",
    script: {
      headers: events,
      body: `${comments}event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n`,
      fragmentBytes: 120,
      delayPieceMs: 12,
    },
  },
  { name: "answers with nonsense", script: { body: '{"hello":1}', delayHeadMs: silentMs } },
];

/** Clients that skip comments, with what they count: events, which a client before its answer gets from us alone. */
const counted = [
  { protocol: "openai-responses", signs: /^event: response\.in_progress$/gm },
  { protocol: "anthropic-messages", signs: /^event: ping$/gm },
  { protocol: "gemini", signs: /^data: \{"modelVersion":"[^"]+","responseId":"[^"]+","usageMetadata"/gm },
] as const;

describe("streams behind signs of life", () => {
  let first: FakeUpstream;
  let second: FakeUpstream;
  let gateway: InProcessGateway;

  before(async () => {
    [first, second] = [await FakeUpstream.start(), await FakeUpstream.start()];
    const channels = callForms.flatMap(({ protocol, format }) =>
      [first, second].map((upstream, index) =>
        channelManifest(`${protocol}-${index}`, upstream.origin, {
          provider: providers[protocol],
          formats: [{ type: format }],
        }),
      ),
    );
    const routes = callForms.flatMap(({ protocol: from }) =>
      callForms.map(({ protocol: to }) =>
        routeManifest(`${from}-then-${to}`, {
          failover: { maxAttempts: 2 },
          targets: [`${from}-0`, `${to}-1`].map((name, priority) => ({ name, channelRef: { name }, priority })),
        }),
      ),
    );
    gateway = await InProcessGateway.start({
      limits: { clientSilenceMs: 25 },
      manifests: manifestOf(channelSecretManifest(), keyManifest("main"), ...channels, ...routes),
    });
  });
  after(async () => {
    await gateway?.close();
    await first?.close();
    await second?.close();
  });

  async function ask(to: DigestProtocol, model: string, scripts: readonly ScriptedReply[]): Promise<OpenStream> {
    for (const [index, upstream] of [first, second].entries()) {
      upstream.forget();
      upstream.replyWith(scripts[index] ?? { status: 500 });
    }
    gateway.records.length = 0;
    return openStream(gateway.origin, to, model);
  }

  const eventsOf = (from: DigestProtocol): string => formatNamed(callFormOf(from).format).events().join("");

  for (const { protocol: to } of callForms)
    for (const { protocol: from } of callForms) {
      it(`pitfall 156: ${to} clients get the answer of ${from} when a first target fails after signs of life`, async () => {
        for (const { name, script } of faults) {
          const model = `${from}-then-${from}`;
          const answer = { headers: events, body: eventsOf(from), delayHeadMs: silentMs };
          const stream = await ask(to, model, [script, answer]);
          await stream.ended;
          checkAnswer(to, stream, name);
          const record = await waitFor("the record", () => gateway.records[0]);
          assert.deepEqual([record.status, record.errorCode, record.attempts], [200, undefined, 2], name);
          assert.equal(record.responseBytes, Buffer.byteLength(stream.text()), name);
          assert.ok((record.firstByteMs ?? 0) >= silentMs, `${name}: a sign of life is no first byte of an answer`);
          assert.equal(gateway.ledger.openCount, 0, name);
        }
      });

      it(`pitfall 156: ${to} clients get the answer of ${from} when a target of their own format fails first`, async () => {
        const answer = { body: eventsOf(from), headers: events };
        const stream = await ask(to, `${to}-then-${from}`, [faults[0]?.script ?? {}, answer]);
        await stream.ended;
        checkAnswer(to, stream, "refuses");
      });

      it(`pitfall 156: ${to} clients of ${from} are told in their format when no target answers after signs of life`, async () => {
        for (const { name, script } of faults) {
          const stream = await ask(to, `${from}-then-${from}`, [script, script]);
          await stream.ended;
          const text = stream.text();
          assert.equal(digest(to, Buffer.from(text)).status, "error", `${name}: ${text}`);
          assert.equal(stream.isComplete(), to !== "gemini", name);
          const record = await waitFor("the record", () => gateway.records[0]);
          assert.equal(record.status, 200);
          assert.notEqual(record.errorCode, undefined);
          assert.match(record.end, /^[sSU]/, name);
          assert.equal(record.responseBytes, Buffer.byteLength(text), name);
          assert.equal(record.firstByteMs, undefined, name);
          assert.deepEqual([record.usage, record.costNanos ?? 0n], [undefined, 0n], `${name}: nothing is billed`);
          assert.equal(gateway.ledger.openCount, 0);
        }
      });

      it(`pitfall 156: the upstream of ${to} clients of ${from} who leave after a sign of life is let go at once`, async () => {
        const stream = await ask(to, `${from}-then-${from}`, [{ headers: events, body: eventsOf(from), stallAt: 0 }]);
        await waitFor("a sign of life", () => stream.text().length > 0);
        const leftMs = performance.now();
        stream.leave();
        const closedMs = await waitFor("the upstream to be closed", () => first.requests[0]?.abortedAtMs);
        assert.ok(closedMs - leftMs < 1_000, `${closedMs - leftMs} ms`);
        const record = await waitFor("the record", () => gateway.records[0]);
        assert.match(record.end, /^C/);
        assert.equal(record.firstByteMs, undefined);
        await waitFor("the ledger to hold nothing", () => gateway.ledger.openCount === 0);
      });
    }

  for (const { protocol: from } of callForms) {
    it(`pitfall 156: comments of ${from} starve no client of events that its program counts`, async () => {
      for (const { protocol: to, signs } of counted) {
        const body = `${comments}${comments}${eventsOf(from)}`;
        const script = { headers: events, body, fragmentAt: Array.from({ length: 20 }, (_, at) => at * 54 + 54) };
        const stream = await ask(to, `${from}-then-${from}`, [{ ...script, delayPieceMs: 10 }]);
        await stream.ended;
        // A provider's own response has its own id, and is opened by nobody else.
        const isTheirs = to === "openai-responses" && from === to;
        const heard = stream.text().match(isTheirs ? /^: keep-alive$/gm : signs);
        assert.ok((heard?.length ?? 0) >= 3, `${to}: ${stream.text()}`);
        checkAnswer(to, stream, to);
      }
    });
  }

  function checkAnswer(to: DigestProtocol, stream: OpenStream, name: string): void {
    const text = stream.text();
    assert.deepEqual(checkGrammar(to, Buffer.from(text)), [], `${name}: ${text}`);
    assert.equal(digest(to, Buffer.from(text)).status, "ok", `${name}: ${text}`);
    assert.equal(stream.isComplete(), true, name);
    if (to !== "openai-responses") return;
    const numbers = [...text.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
    assert.deepEqual(numbers, [...numbers.keys()], `${name}: ${text}`);
    assert.equal(text.match(/^event: response\.created$/gm)?.length, 1, `${name}: ${text}`);
  }
});
