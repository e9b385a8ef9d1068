/**
 * A channel of the client's own format that answers whole though the client streams, or streams though it does not:
 * nothing of the answer is lost or changed, it is billed as it was told, and no part of one passes for the whole.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { AccessRecord } from "#proxy/observe/access-log";
import { splitEvents } from "#proxy/sse/event-fields";
import { useCapture } from "#test/support/conformance/capture";
import { callForms } from "#test/support/conformance/chat-calls";
import { type HttpAnswer, httpCall } from "#test/support/conformance/http-call";
import { channelManifest, keyManifest, routeManifest } from "#test/support/conformance/manifests";
import { ownFormatReplies } from "#test/support/conformance/own-format-replies";
import { digest } from "#test/support/digest/digest";
import { at } from "#test/support/digest/facts";
import { checkGrammar } from "#test/support/digest/grammar";
import type { ScriptedReply } from "#test/support/fake-upstream";
import { aggregated, replayed } from "#test/support/translation/own-format-exchange";

const errorEvents = {
  "openai-chat": 'data: {"error":{"message":"Overloaded","type":"server_error","code":"server_error"}}\n\n',
  "openai-responses":
    'event: error\ndata: {"type":"error","sequence_number":99,"code":"server_error","message":"Overloaded"}\n\n',
  "anthropic-messages":
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
  gemini: 'data: {"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}\r\n\r\n',
} as const;

const eventStream = { "content-type": "text/event-stream" };

describe("answers of the client's own format in the other manner", () => {
  const capture = useCapture((origin) => [
    keyManifest("main"),
    channelManifest("demo", origin),
    channelManifest("second", origin),
    routeManifest("demo", { targets: ["demo", "second"].map((name) => ({ name, channelRef: { name } })) }),
  ]);

  function recordOf(answer: HttpAnswer): Promise<AccessRecord> {
    return capture().gateway.recordOf(String(answer.header("x-request-id")));
  }

  for (const form of callForms) {
    const { format, protocol } = form;
    const reply = ownFormatReplies[protocol];

    /** Nothing said is asked for again: the route has a second target. */
    async function ask(stream: boolean, script: ScriptedReply): Promise<HttpAnswer> {
      capture().upstream.replyWith(script);
      const body = JSON.stringify(form.body("demo", stream));
      const { origin } = capture().gateway;
      return httpCall({ origin, path: form.path("demo", stream), headers: form.headers("main"), body });
    }

    it(`${format}: a whole answer streams with all it says`, async () => {
      const answer = await ask(true, { body: JSON.stringify(reply) });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(answer.isComplete, true);
      assert.match(String(answer.header("content-type")), /^text\/event-stream/);
      assert.deepEqual(checkGrammar(protocol, answer.body), []);
      assert.deepEqual(aggregated(format, answer.body), { reply, lost: [] });
      assert.equal(answer.header("x-tollgate-dropped"), undefined);
      const { usage, isEstimated } = await recordOf(answer);
      assert.deepEqual([usage?.input, isEstimated], [5, false]);
    });

    it(`${format}: a stream is answered whole with all it says`, async () => {
      const answer = await ask(false, { headers: eventStream, body: replayed(format, reply), fragmentBytes: 101 });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.match(String(answer.header("content-type")), /^application\/json/);
      assert.deepEqual(answer.json(), reply);
      const { usage, isEstimated } = await recordOf(answer);
      assert.deepEqual([usage?.input, isEstimated], [5, false]);
    });

    for (const ending of ["closed", "reset", "an error event"] as const) {
      it(`${format}: a stream cut behind any event is an error and billed for what it said: ${ending}`, async () => {
        const events = splitEvents(replayed(format, reply));
        for (let count = 1; count < events.length; count += 1) {
          const body = Buffer.concat(events.slice(0, count));
          const said = digest(protocol, body);
          if (said.finish !== null) break;
          const answer = await ask(false, cut(body, ending));
          assert.ok(answer.status >= 500, `${answer.status} behind ${count} events`);
          assert.notEqual(at(answer.json(), "error"), undefined);
          const { usage, isEstimated, attempts } = await recordOf(answer);
          if (said.text + said.reasoning === "") continue;
          assert.ok(Number(usage?.output) > 0 && isEstimated, `billed behind ${count} events`);
          assert.equal(attempts, 1, "what was generated is paid for once");
        }
      });
    }

    function cut(body: Buffer, ending: "closed" | "reset" | "an error event"): ScriptedReply {
      if (ending === "an error event") return { headers: eventStream, body: `${body}${errorEvents[protocol]}` };
      if (ending === "closed") return { headers: eventStream, body };
      // The last byte never comes; what was sent before has the time to arrive.
      return { headers: eventStream, body: Buffer.concat([body, Buffer.from(" ")]), cutAt: body.length };
    }
  }

  it("shows usage only to chat clients that asked for it", async () => {
    const [form] = callForms;
    assert.ok(form?.format === "ChatCompletions");
    capture().upstream.replyWith({ body: JSON.stringify(ownFormatReplies["openai-chat"]) });
    const { answer } = await capture().send({ form, model: "demo", stream: true, body: { stream_options: undefined } });
    assert.equal(answer.status, 200);
    assert.doesNotMatch(answer.body.toString(), /"usage"/);
    assert.equal((await recordOf(answer)).usage?.input, 5);
  });

  it("answers Gemini clients without alt=sse with an array", async () => {
    const form = callForms[3];
    assert.ok(form?.format === "GenerateContent");
    capture().upstream.replyWith({ body: JSON.stringify(ownFormatReplies.gemini) });
    const path = "/v1beta/models/demo:streamGenerateContent";
    const { answer } = await capture().send({ form, model: "demo", stream: true, path });
    assert.deepEqual(answer.json(), [ownFormatReplies.gemini]);
  });

  it("declares what a whole answer has no place for", async () => {
    const form = callForms[1];
    assert.ok(form?.format === "Responses");
    const events = splitEvents(replayed("Responses", ownFormatReplies["openai-responses"]));
    const sound =
      'event: response.audio.delta\ndata: {"type":"response.audio.delta","sequence_number":9,"delta":"AAAA"}\n\n';
    const body = Buffer.concat([...events.slice(0, 2), Buffer.from(sound), ...events.slice(2)]);
    capture().upstream.replyWith({ headers: eventStream, body });
    const labels = { format: "Responses", parameter: "other" };
    const before = await capture().gateway.metric("tollgate_dropped_parameters_total", labels);
    const { answer } = await capture().send({ form, model: "demo" });
    assert.equal(answer.status, 200, answer.body.toString());
    assert.equal(answer.header("x-tollgate-dropped"), "response.audio");
    assert.equal(await capture().gateway.metric("tollgate_dropped_parameters_total", labels), before + 1);
  });

  for (const stream of [true, false]) {
    it(`goes on from a response of the provider's, ${stream ? "streamed" : "whole"} though it was not`, async () => {
      const form = callForms[1];
      assert.ok(form?.format === "Responses");
      const reply = { ...ownFormatReplies["openai-responses"], store: true };
      const whole = { body: JSON.stringify(reply) };
      capture().upstream.replyWith(stream ? whole : { headers: eventStream, body: replayed("Responses", reply) });
      assert.equal((await capture().send({ form, model: "demo", stream })).answer.status, 200);
      capture().upstream.replyWith(whole);
      const { answer, received } = await capture().send({
        form,
        model: "demo",
        body: { previous_response_id: "resp_1" },
      });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(at(received?.json(), "previous_response_id"), "resp_1");
    });
  }
});
