/** Stop sequences that an upstream does not know: the gateway cuts, leaves the upstream, and bills what was produced. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useTranslationRig } from "#test/support/conformance/translation-rig";
import { digest } from "#test/support/digest/digest";
import { translationOf } from "#test/support/translation/pure-translation";
import { waitFor } from "#test/support/wait-for";

const chunk = (text: string): string =>
  `data: ${JSON.stringify({
    candidates: [{ index: 0, content: { role: "model", parts: [{ text }] } }],
    usageMetadata: { promptTokenCount: 7, totalTokenCount: 7 },
  })}\r\n\r\n`;

describe("stop sequences beyond those an upstream takes", () => {
  const rig = useTranslationRig();

  it("end the answer, and what was produced is billed though the upstream had not counted it yet", async () => {
    const said = `${chunk("one two three four five ")}${chunk("six END seven")}`;
    rig().upstream.forget();
    rig().upstream.replyWith({
      headers: { "content-type": "text/event-stream" },
      body: `${said}x`,
      stallAt: said.length,
    });
    const answer = await rig().call("anthropic-messages", "gemini", true, {
      stop_sequences: ["A1", "A2", "A3", "A4", "A5", "END"],
    });
    assert.equal(answer.isComplete, true, answer.body.toString());
    assert.equal(digest("anthropic-messages", answer.body).text, "one two three four five six ");
    const [, told] = /"stop_sequence":"END"\},"usage":(\{[^}]*\})/.exec(answer.body.toString()) ?? [];
    const { input_tokens: input, output_tokens: output } = JSON.parse(told ?? "{}");
    assert.deepEqual([input, output], [7, Math.ceil("one two three four five six END seven".length / 4)]);
    await waitFor("the upstream to be left", () => rig().upstream.requests[0]?.abortedAtMs);
    const { usage, isEstimated } = await rig().gateway.recordOf(String(answer.header("x-request-id")));
    assert.equal(usage?.input, 7);
    assert.ok((usage?.output ?? 0) >= 6, `${usage?.output} output tokens`);
    assert.equal(isEstimated, true);
  });

  for (const [name, sequences] of [
    ["so many", Array.from({ length: 300 }, (_, index) => `~${index}`)],
    ["so long", [`${"a".repeat(20_000)}b`]],
  ] as const) {
    it(`are refused where ${name} would have to be looked for, naming the client's field`, async () => {
      rig().upstream.forget();
      const body = { stop_sequences: sequences };
      const refused = await rig().call("anthropic-messages", "openai-responses", false, body);
      assert.equal(refused.status, 400);
      assert.match(refused.body.toString(), /'stop_sequences' may hold 256 sequences of 16384 characters together/);
      assert.equal(rig().upstream.requests.length, 0);
    });
  }

  it("end the one candidate that says them; the others are told to their end, with the upstream's numbers", async () => {
    const text = (index: number, content: string, reason: string | null = null): string => {
      const choices = [{ index, delta: { content }, finish_reason: reason }];
      return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`;
    };
    const usage = { prompt_tokens: 5, completion_tokens: 21, total_tokens: 26 };
    rig().upstream.replyWith({
      headers: { "content-type": "text/event-stream" },
      body: [
        ...[text(0, "first "), text(1, "second "), text(0, "STOP5 rest"), text(1, "answer in full")],
        ...[text(0, "", "stop"), text(1, "", "stop")],
        `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage })}\n\n`,
        "data: [DONE]\n\n",
      ].join(""),
    });
    const generationConfig = { candidateCount: 2, stopSequences: ["A1", "B2", "C3", "D4", "STOP5"] };
    const answer = await rig().call("gemini", "openai-chat", true, { generationConfig });
    assert.equal(answer.isComplete, true, answer.body.toString());
    const said = ["", ""];
    for (const [, json = "{}"] of answer.body.toString().matchAll(/^data: (.*)$/gm)) {
      for (const { index, content } of JSON.parse(json).candidates ?? []) said[index] += content.parts[0].text;
    }
    assert.deepEqual(said, ["first ", "second answer in full"]);
    assert.match(answer.body.toString(), /"promptTokenCount":5,"candidatesTokenCount":21,/);
    const { usage: billed, isEstimated } = await rig().gateway.recordOf(String(answer.header("x-request-id")));
    assert.deepEqual([billed?.input, billed?.output, isEstimated], [5, 21, false]);
  });

  it("tell what the upstream counted, where it answered a client that streams in one piece", () => {
    const body = { model: "m", messages: [{ role: "user", content: "x" }], stop: ["END"] };
    const reply = {
      id: "resp_1",
      object: "response",
      status: "completed",
      model: "m",
      output: [
        {
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: `${"one ".repeat(1_000)}END two`, annotations: [] }],
        },
      ],
      usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
    };
    const translation = translationOf("Responses", "ChatCompletions", body, true);
    const text = Buffer.concat(translation.streamOfReply(Buffer.from(JSON.stringify(reply)))).toString();
    assert.match(text, /"prompt_tokens":11,"completion_tokens":7,/);
    assert.match(text, /\[DONE\]/);
  });
});
