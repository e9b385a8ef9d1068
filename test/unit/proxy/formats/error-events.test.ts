/** An event that is named `error` ends a stream with an error, whatever its data looks like; so does one whose data says that it is one. */
import assert from "node:assert/strict";
import { upstreamFormats } from "#proxy/formats/registry";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { dataEvents, namedEvents } from "#test/support/calls/run-filter";
import { callOf } from "#test/support/digest/stream-call";
import { formats, smallestCalls, translationOf } from "#test/support/translation/pure-translation";

/** Events of any members. */
function named(...values: readonly ({ readonly type: string } & Readonly<Record<string, unknown>>)[]): string {
  return namedEvents(...values);
}

const chunk = { id: "chatcmpl-1", object: "chat.completion.chunk", model: "m" };
const textItem = { type: "message", id: "msg_1", role: "assistant", content: [] };
const said = { type: "response.output_text.delta", sequence_number: 2, output_index: 0, content_index: 0, delta: "hi" };
const ended = {
  type: "response.completed",
  sequence_number: 4,
  response: { id: "r", status: "completed", output: [] },
};

/** A text in two pieces, and an end that looks well. */
const streams: Readonly<Record<ChatWireFormat, { readonly text: string; readonly end: string }>> = {
  ChatCompletions: {
    text: dataEvents(
      { ...chunk, choices: [{ index: 0, delta: { role: "assistant", content: "hi" }, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: { content: " you" }, finish_reason: null }] },
    ),
    end: dataEvents({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }, "[DONE]"),
  },
  Responses: {
    text: named(
      {
        type: "response.created",
        sequence_number: 0,
        response: { id: "r", status: "in_progress", output: [] },
      },
      { type: "response.output_item.added", sequence_number: 1, output_index: 0, item: textItem },
      said,
      { ...said, sequence_number: 3 },
    ),
    end: named(ended),
  },
  Messages: {
    text: named(
      { type: "message_start", message: { id: "msg_1", usage: { input_tokens: 1, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hi" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: " you" } },
    ),
    end: named(
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
      { type: "message_stop" },
    ),
  },
  GenerateContent: {
    text: dataEvents(
      { candidates: [{ index: 0, content: { role: "model", parts: [{ text: "hi" }] } }] },
      { candidates: [{ index: 0, content: { role: "model", parts: [{ text: " you" }] } }] },
    ),
    end: dataEvents({
      candidates: [{ index: 0, content: { role: "model", parts: [{ text: "." }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 3, totalTokenCount: 4 },
    }),
  },
};

const errors: readonly { readonly name: string; readonly event: string; readonly message: string }[] = [
  { name: "plain text", event: "event: error\ndata: upstream is gone\n\n", message: "upstream is gone" },
  { name: "plain text, no space", event: "event:error\ndata:upstream is gone\n\n", message: "upstream is gone" },
  { name: "a message", event: 'event: error\ndata: {"message":"gone"}\n\n', message: "gone" },
  { name: "a detail", event: 'event: error\ndata: {"detail":"gone"}\n\n', message: "gone" },
  {
    name: "a type of its own",
    event: 'event: error\ndata: {"type":"server_gone","message":"gone"}\n\n',
    message: "gone",
  },
  { name: "a type alone", event: 'event: error\ndata: {"type":"error"}\n\n', message: "" },
  { name: "a type alone, without a name", event: 'data: {"type":"error"}\n\n', message: "" },
  { name: "an object's name alone", event: 'data: {"object":"error","message":"gone"}\n\n', message: "gone" },
  { name: "a string", event: 'event: error\ndata: "gone"\n\n', message: "gone" },
  { name: "an error of text", event: 'event: error\ndata: {"error":"gone"}\n\n', message: "gone" },
  { name: "nothing but null", event: "event: error\ndata: null\n\n", message: "" },
  { name: "no data", event: "event: error\n\n", message: "" },
  { name: "an empty object", event: "event: error\ndata: {}\n\n", message: "" },
];

describe("an error in the middle of a stream", () => {
  for (const upstream of formats) {
    const { text, end } = streams[upstream];
    for (const { name, event, message } of errors) {
      it(`is none of the reply and ends it: ${upstream}, ${name}`, () => {
        const format = upstreamFormats[upstream];
        const filter = format.createStreamFilter(callOf(format), 1 << 20);
        const passed = Buffer.concat([text, event, end].flatMap((piece) => [...filter.push(Buffer.from(piece))]));
        assert.equal(Buffer.concat([passed, ...filter.end()]).toString(), text);
        assert.deepEqual([filter.isComplete, filter.violation, filter.error?.message], [false, undefined, message]);
        assert.equal(filter.error?.kind, "upstream_5xx");
      });

      for (const client of formats.filter((other) => other !== upstream)) {
        it(`ends a translated stream: ${upstream} to ${client}, ${name}`, () => {
          const filter = translationOf(upstream, client, smallestCalls[client], true).createStreamFilter(1 << 20);
          for (const piece of [text, event, end]) filter.push(Buffer.from(piece));
          filter.end();
          assert.deepEqual([filter.isComplete, filter.violation, filter.error?.message], [false, undefined, message]);
        });
      }
    }

    for (const rest of ["event: error", "event: error\ndata:", 'event: error\ndata: {"mess']) {
      it(`is one where the body ends in the middle of it: ${upstream}, ${JSON.stringify(rest)}`, () => {
        const format = upstreamFormats[upstream];
        const filter = format.createStreamFilter(callOf(format), 1 << 20);
        const [finished = ""] = upstream === "ChatCompletions" ? end.split("data: [DONE]") : [""];
        const passed = [...filter.push(Buffer.from(text + finished + rest)), ...filter.end()];
        assert.equal(Buffer.concat(passed).toString(), text + finished);
        assert.deepEqual([filter.isComplete, filter.error?.kind], [false, "upstream_5xx"]);
      });
    }

    it(`is not taken for one where the word stands in the text: ${upstream}`, () => {
      const format = upstreamFormats[upstream];
      const filter = format.createStreamFilter(callOf(format), 1 << 20);
      const stream = text.replaceAll(" you", " error: a mirror") + end;
      const passed = Buffer.concat([...filter.push(Buffer.from(stream)), ...filter.end()]).toString();
      assert.equal(passed, stream);
      assert.deepEqual([filter.isComplete, filter.error], [true, undefined]);
    });
  }
});
