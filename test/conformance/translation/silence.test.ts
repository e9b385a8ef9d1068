/**
 * pitfalls 156 and 165: the client of a stream hears that its answer lives while the upstream says nothing, or nothing
 * for it, before the first event too, in the form that its programs count (`timeouts.clientSilence`).
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import OpenAI6 from "openai-6";
import OpenAI7 from "openai-7";
import { callFormOf } from "#test/support/conformance/chat-calls";
import { httpCall } from "#test/support/conformance/http-call";
import { type OpenStream, openStream } from "#test/support/conformance/open-stream";
import { protocols, routeTo, useTranslationRig } from "#test/support/conformance/translation-rig";
import { digest } from "#test/support/digest/digest";
import type { DigestProtocol } from "#test/support/digest/facts";
import { checkGrammar } from "#test/support/digest/grammar";
import type { ScriptedReply } from "#test/support/fake-upstream";
import { formatNamed } from "#test/support/resilience/formats";
import { waitFor } from "#test/support/wait-for";

const events = { "content-type": "text/event-stream" };
const formatOf = {
  "openai-chat": "ChatCompletions",
  "openai-responses": "Responses",
  "anthropic-messages": "Messages",
  gemini: "GenerateContent",
} as const;

/**
 * One sign each: of Google's, a frame without candidates; of responses, an event, and a comment while a provider that speaks
 * the format itself has not begun: its response will have an id of its own.
 */
const signs: Readonly<Record<DigestProtocol, RegExp>> = {
  "openai-chat": /^: keep-alive$/gm,
  "openai-responses": /^event: (?:response\.in_progress|keepalive)$|^: keep-alive$/gm,
  "anthropic-messages": /^event: ping$/gm,
  gemini: /^data: \{"modelVersion":"[^"]+","responseId":"[^"]+","usageMetadata":\{[^}]*\}\}$/gm,
};

/** What a stream of each protocol says only when it ends. */
const endings: Readonly<Record<DigestProtocol, RegExp>> = {
  "openai-chat": /\[DONE\]|"finish_reason":"/,
  "openai-responses": /response\.(completed|incomplete|failed)/,
  "anthropic-messages": /message_(delta|stop)/,
  gemini: /finishReason/,
};

const failures: Readonly<Record<DigestProtocol, RegExp>> = {
  "openai-chat": /data: \{"error":\{/,
  "openai-responses": /event: response\.failed/,
  "anthropic-messages": /event: error/,
  gemini: /data: \{"error":\{"code":/,
};

function wholeStream(from: DigestProtocol): Buffer {
  return Buffer.from(formatNamed(formatOf[from]).events().join(""));
}

describe("silence in a stream", () => {
  const rig = useTranslationRig({}, { clientSilenceMs: 40 });

  function count(text: string, to: DigestProtocol): number {
    return text.match(signs[to])?.length ?? 0;
  }

  /** @param stall what the upstream keeps for itself until it is let go */
  async function hear(to: DigestProtocol, from: DigestProtocol, script: ScriptedReply): Promise<OpenStream> {
    rig().upstream.forget();
    rig().upstream.replyWith(script);
    return openStream(rig().gateway.origin, to, routeTo(from));
  }

  for (const to of protocols)
    for (const from of protocols) {
      it(`pitfall 156: ${to} clients of ${from} hear it before the first event, and in the middle of the answer`, async () => {
        const whole = wholeStream(from);
        const middle = Math.floor(whole.length / 2);
        for (const stallAt of [0, middle]) {
          const stream = await hear(to, from, { headers: events, body: whole, stallAt });
          try {
            if (stallAt > 0) await waitFor("the answer to begin", () => stream.text().length > 0);
            const before = count(stream.text(), to);
            await waitFor("three signs of life", () => count(stream.text(), to) >= before + 3);
            assert.equal(stream.status(), 200);
            assert.doesNotMatch(stream.text(), endings[to], "a stream whose upstream is silent has not ended");
            if (to === "gemini") assert.doesNotMatch(stream.text(), /^:|(?:\r?\n){3}/m, "no comment, no blank event");
          } finally {
            stream.leave();
          }
          await waitFor("the ledger to hold nothing", () => rig().gateway.ledger.openCount === 0);
          assert.equal(rig().upstream.requests.length, 1, "silence is no reason for a second attempt");
        }
      });

      it(`pitfall 156: the answer of ${from} for ${to} clients is whole behind signs of life, and fails in its format`, async () => {
        const whole = wholeStream(from);
        const slow = await hear(to, from, { headers: events, body: whole, delayHeadMs: 130 });
        await slow.ended;
        assert.ok(count(slow.text(), to) >= 1, slow.text());
        assert.deepEqual(checkGrammar(to, Buffer.from(slow.text())), [], slow.text());
        assert.equal(digest(to, Buffer.from(slow.text())).status, "ok");
        const failing = await hear(to, from, {
          status: 429,
          delayHeadMs: 130,
          body: JSON.stringify({ error: { message: "slow down", type: "rate_limit_error", code: "rate_limit" } }),
        });
        await failing.ended;
        assert.equal(failing.status(), 200);
        assert.match(failing.text(), failures[to]);
        assert.equal(failing.isComplete(), to !== "gemini");
        assert.equal(digest(to, Buffer.from(failing.text())).status, "error");
      });

      it(`pitfall 156: a whole answer of ${from} streams to ${to} clients behind signs of life`, async () => {
        const body = formatNamed(formatOf[from]).reply();
        const stream = await hear(to, from, { body, delayHeadMs: 130 });
        await stream.ended;
        assert.ok(count(stream.text(), to) >= 1, stream.text());
        assert.deepEqual(checkGrammar(to, Buffer.from(stream.text())), [], stream.text());
        assert.equal(digest(to, Buffer.from(stream.text())).status, "ok");
      });
    }

  it("pitfall 156: numbers of a responses stream rise by one, its response is created once and has one id", async () => {
    for (const from of protocols)
      for (const stallAt of [0, 900]) {
        const whole = wholeStream(from);
        const stream = await hear("openai-responses", from, {
          headers: events,
          body: whole,
          ...(stallAt === 0 ? { delayHeadMs: 130 } : { fragmentAt: [stallAt], delayPieceMs: 130 }),
        });
        await stream.ended;
        const numbers = [...stream.text().matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
        assert.deepEqual(numbers, [...numbers.keys()], `${from}: ${stream.text()}`);
        assert.equal(stream.text().match(/^event: response\.created$/gm)?.length, 1);
        assert.equal(new Set(stream.text().match(/"id":"resp_\w+"/g)).size, 1);
      }
  });

  for (const name of ["openai 6", "openai 7"])
    for (const from of protocols)
      for (const place of ["before the first event", "behind the first text"]) {
        it(`pitfall 156: ${name} gathers the response of ${from} through silence ${place}`, async () => {
          const whole = wholeStream(from);
          const first = endOfFirstText(from, whole.toString());
          rig().upstream.forget();
          rig().upstream.replyWith({
            headers: events,
            body: whole,
            ...(place.startsWith("before") ? { delayHeadMs: 130 } : { fragmentAt: [first], delayPieceMs: 130 }),
          });
          const apiKey = String(callFormOf("openai-responses").headers("main")["authorization"]).replace("Bearer ", "");
          const options = { baseURL: `${rig().gateway.origin}/v1`, apiKey, maxRetries: 0 };
          const request = { model: routeTo(from), input: "hi" };
          const stream =
            name === "openai 6"
              ? new OpenAI6(options).responses.stream(request)
              : new OpenAI7(options).responses.stream(request);
          const response = await stream.finalResponse();
          assert.equal(response.status, "completed");
          assert.match(response.output_text, /hi/);
        });
      }

  for (const [name, extra] of [
    ["comments", ": OPENROUTER PROCESSING\n\n"],
    ["blank lines", "\n\n"],
    ["blank lines with returns", "\r\n\r\n"],
    ["single line ends", "\n"],
  ] as const) {
    it(`pitfall 165: ${name} of a generateContent upstream reach no generateContent client`, async () => {
      const frames = wholeStream("gemini")
        .toString()
        .split(/(?<=\r\n\r\n)/);
      for (const delayPieceMs of [0, 5]) {
        const body = frames.join(extra);
        const cuts = frames.flatMap((_, index) => {
          const end = frames.slice(0, index + 1).join(extra).length;
          return [end, end + extra.length];
        });
        const split = { fragmentAt: cuts.filter((cut) => cut < body.length), delayPieceMs };
        const stream = await hear("gemini", "gemini", { headers: events, body, ...(delayPieceMs === 0 ? {} : split) });
        await stream.ended;
        assert.doesNotMatch(stream.text(), /^:|(?:\r?\n){3}/m);
        assert.match(stream.text(), /^data: /);
        assert.equal(digest("gemini", Buffer.from(stream.text())).status, "ok");
      }
    });
  }

  it("pitfalls 156 and 170: comments of a responses upstream are no life to its clients: they get an event beside them", async () => {
    const whole = wholeStream("openai-responses").toString();
    const begun = whole.indexOf("\n\n") + 2;
    const comment = ": OPENROUTER PROCESSING\n\n";
    const cuts = Array.from({ length: 8 }, (_, index) => begun + index * comment.length);
    const stream = await hear("openai-responses", "openai-responses", {
      headers: events,
      body: whole.slice(0, begun) + comment.repeat(8) + whole.slice(begun),
      fragmentAt: cuts,
      delayPieceMs: 25,
    });
    await stream.ended;
    assert.ok((stream.text().match(/^event: response\.in_progress$/gm)?.length ?? 0) >= 3, stream.text());
  });

  it("pitfall 156: what was dropped of a call is declared, though a sign of life was the first to go out", async () => {
    const form = callFormOf("openai-chat");
    for (const delayHeadMs of [0, 130]) {
      rig().upstream.replyWith({ headers: events, body: wholeStream("anthropic-messages"), delayHeadMs });
      const answer = await httpCall({
        origin: rig().gateway.origin,
        path: form.path(routeTo("anthropic-messages"), true),
        headers: form.headers("main"),
        body: JSON.stringify({ ...form.body(routeTo("anthropic-messages"), true), seed: 7, logit_bias: { 1: 2 } }),
      });
      assert.equal(answer.header("x-tollgate-dropped"), "seed, logit_bias", `after ${delayHeadMs} ms`);
    }
  });
});

/** Behind the event of a stream that first says text. */
function endOfFirstText(from: DigestProtocol, stream: string): number {
  const words = {
    "openai-chat": '"content":"',
    "openai-responses": "response.output_text.delta",
    "anthropic-messages": "text_delta",
    gemini: '"text":"',
  };
  const said = stream.indexOf(words[from]);
  return said + (/\r?\n\r?\n/.exec(stream.slice(said))?.index ?? 0) + (from === "gemini" ? 4 : 2);
}
