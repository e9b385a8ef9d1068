import assert from "node:assert/strict";
import { responsesClient as responses } from "#proxy/formats/responses/native/client-format";
import { responsesClientTranslator } from "#proxy/formats/responses/translate/client-translator";
import { StreamOpening } from "#proxy/formats/stream/stream-opening";
import type { ReplyEvent } from "#proxy/neutral/reply";
import { callOf } from "#test/support/digest/stream-call";
import { OpenStates } from "#test/support/translation/exchange";
import { close, delta, end, open, openCall, start, stopped, textPart } from "#test/support/translation/reply-events";
import { framesOf, outputOf, replyContext, writeStream } from "#test/support/translation/responses-exchange";

describe("responses: stream writer, items", () => {
  it("joins neighbouring texts into one part, with citations where they stand", () => {
    const [item] = outputOf([
      start,
      ...textPart(0, "one "),
      open(1, { kind: "text" }),
      delta(1, "two"),
      { type: "citation", candidate: 0, part: 1, citation: { url: "https://a.example/" } },
      close(1),
      stopped,
      end,
    ]);
    assert.deepEqual(item?.["content"], [
      {
        type: "output_text",
        text: "one two",
        annotations: [{ type: "url_citation", url: "https://a.example/", title: "", start_index: 4, end_index: 7 }],
        logprobs: [],
      },
    ]);
  });

  it("makes no message of a model that only called tools", () => {
    const output = outputOf([
      start,
      open(0, { kind: "text" }),
      close(0),
      openCall(1, "c", "f"),
      close(1),
      stopped,
      end,
    ]);
    assert.deepEqual(
      output.map(({ type }) => type),
      ["function_call"],
    );
  });

  it("pitfall 28: a call without arguments ends with an empty object", () => {
    const [item] = outputOf([start, openCall(0, "c", "f"), close(0), stopped, end]);
    assert.equal(item?.["arguments"], "{}");
  });

  it("keeps calls apart that are open together", () => {
    const output = outputOf([
      start,
      openCall(0, "a", "f"),
      delta(0, '{"x"'),
      openCall(1, "b", "g"),
      delta(1, "{}"),
      delta(0, ":1}"),
      close(0),
      close(1),
      stopped,
      end,
    ]);
    assert.deepEqual(
      output.map((item) => [item["call_id"], item["arguments"]]),
      [
        ["a", '{"x":1}'],
        ["b", "{}"],
      ],
    );
  });

  it("never mixes texts that are open together", () => {
    const output = outputOf([
      start,
      open(0, { kind: "text" }),
      delta(0, "a"),
      open(1, { kind: "text" }),
      delta(1, "b"),
      delta(0, "a"),
      close(0),
      close(1),
      stopped,
      end,
    ]);
    assert.deepEqual(
      output.map((item) => Object(item["content"])[0].text),
      ["aa", "b"],
    );
  });

  it("puts a call's state into a reasoning item before it", () => {
    const signed = { kind: "thought-signature", data: "TSIG" } as const;
    const output = outputOf([
      start,
      openCall(0, "c", "f"),
      { type: "state", candidate: 0, part: 0, state: signed },
      delta(0, "{}"),
      close(0),
      stopped,
      end,
    ]);
    assert.deepEqual(output[0], {
      type: "reasoning",
      id: output[0]?.["id"],
      summary: [],
      encrypted_content: new OpenStates().seal([signed]),
    });
    assert.equal(output[1]?.["type"], "function_call");
  });

  it("keeps a state here that came after the call had begun", () => {
    const states = new OpenStates({ native: true });
    const signed = { kind: "thought-signature", data: "TSIG" } as const;
    const events: readonly ReplyEvent[] = [
      start,
      openCall(0, "c", "f"),
      delta(0, "{}"),
      { type: "state", candidate: 0, part: 0, state: signed },
      close(0),
      stopped,
      end,
    ];
    assert.equal(outputOf(events, replyContext({}, { states })).length, 1);
    assert.deepEqual(states.remembered.get("c"), [signed]);
  });

  it("marks reasoning without state as the gateway's own, so that it never goes to a provider", () => {
    const events = [start, open(0, { kind: "reasoning" }), delta(0, "T"), close(0), stopped, end];
    const input = outputOf(events);
    assert.deepEqual(responsesClientTranslator.removeSealedState({ model: "m", input })["input"], []);
  });

  it("has no reasoning item for reasoning that says nothing", () => {
    assert.deepEqual(outputOf([start, open(0, { kind: "reasoning" }), close(0), stopped, end]), []);
  });

  it("gives a tool of a namespace its own name back", () => {
    const tools = [{ type: "namespace", name: "ns", tools: [{ type: "function", name: "f" }] }];
    const [item] = outputOf([start, openCall(0, "c", "ns__f"), close(0), stopped, end], replyContext({ tools }));
    assert.deepEqual([item?.["namespace"], item?.["name"]], ["ns", "f"]);
  });

  it("streams the text of a custom tool", () => {
    const events: readonly ReplyEvent[] = [
      start,
      open(0, { kind: "call", id: "c", name: "sql", tool: "custom" }),
      delta(0, "SELECT "),
      delta(0, "1"),
      close(0),
      stopped,
      end,
    ];
    const [item] = outputOf(events);
    assert.deepEqual([item?.["type"], item?.["input"]], ["custom_tool_call", "SELECT 1"]);
    const pieces = framesOf(writeStream(events)).filter(({ type }) => type === "response.custom_tool_call_input.delta");
    assert.equal(pieces.length, 2);
  });

  it("shows pictures, tells of other files, and drops what else the format has no place for (11.4)", () => {
    const output = outputOf([
      start,
      open(0, { kind: "media", mime: "image/webp", base64: "AAAA" }),
      close(0),
      open(1, { kind: "media", mime: "audio/wav", base64: "AAAA" }),
      close(1),
      open(2, { kind: "hosted", tool: "other", type: "x" }),
      close(2),
      stopped,
      end,
    ]);
    assert.deepEqual(
      output.map(({ type, result, content }) => [type, result ?? content]),
      [
        ["image_generation_call", "AAAA"],
        ["message", [{ type: "output_text", text: "[audio omitted]", annotations: [], logprobs: [] }]],
      ],
    );
  });

  it("joins code and its output, though they come apart", () => {
    const output = outputOf([
      start,
      open(0, { kind: "hosted", tool: "code", type: "executableCode", code: "1+1" }),
      close(0),
      open(1, { kind: "hosted", tool: "code", type: "codeExecutionResult", output: "2" }),
      close(1),
      stopped,
      end,
    ]);
    assert.deepEqual(
      output.map(({ type, code, outputs }) => [type, code, outputs]),
      [["code_interpreter_call", "1+1", [{ type: "logs", logs: "2" }]]],
    );
  });

  it("marks the item that the length cut", () => {
    const output = outputOf([
      start,
      openCall(0, "a", "f"),
      delta(0, "{}"),
      close(0),
      openCall(1, "b", "f"),
      delta(1, '{"x'),
      close(1),
      { type: "finish", candidate: 0, finish: { reason: "length" } },
      end,
    ]);
    assert.deepEqual(
      output.map(({ status }) => status),
      ["completed", "incomplete"],
    );
  });

  it("gives log probabilities only to who asked", () => {
    const events: readonly ReplyEvent[] = [
      start,
      open(0, { kind: "text" }),
      { type: "logprobs", candidate: 0, part: 0, tokens: [{ token: "é", logprob: -1, top: [] }] },
      delta(0, "é"),
      close(0),
      stopped,
      end,
    ];
    const asked = outputOf(events, replyContext({ include: ["message.output_text.logprobs"] }));
    assert.deepEqual(Object(asked[0]?.["content"])[0].logprobs, [
      { token: "é", logprob: -1, bytes: [195, 169], top_logprobs: [] },
    ]);
    assert.deepEqual(Object(outputOf(events)[0]?.["content"])[0].logprobs, []);
  });

  it("ignores other candidates than the first", () => {
    const other: ReplyEvent = { type: "open", candidate: 1, part: 0, block: { kind: "text" } };
    assert.deepEqual(outputOf([start, other, { type: "close", candidate: 1, part: 0 }, stopped, end]), []);
  });

  it("pitfall 7: says that the reply lives by a numbered event, and creates the response but once", () => {
    const opening = new StreamOpening(1, 1, (prefix) => `${prefix}1`, true);
    const context = { ...replyContext({ stream: true }), opening };
    const writer = responsesClientTranslator.createStreamWriter(context);
    assert.equal(writer.signOfLife?.(), "", "before the answer the format says it, the same over all attempts");
    const call = callOf(responses, { stream: true });
    const first = responses.signOfLife(call, opening).toString("utf8");
    // An attempt that failed before anything of it went out takes no numbers.
    responsesClientTranslator.createStreamWriter(context).write(start);
    const text = [first, writer.write(start), writer.signOfLife?.()].join("");
    const types = [...text.matchAll(/"type":"(response\.\w+)","sequence_number":(\d+)/g)].map(([, ...said]) => said);
    assert.deepEqual(types, [
      ["response.created", "0"],
      ["response.in_progress", "1"],
      ["response.in_progress", "2"],
      ["response.in_progress", "3"],
    ]);
  });
});
