/**
 * A text that comes again in full: what it adds is said, and where it says something else that was said stays, for nothing
 * can be taken back. A finished item is finished, whatever the end of the stream shows of it.
 */
import assert from "node:assert/strict";
import { aggregated } from "#test/support/translation/own-format-exchange";
import { smallestCalls, streamOf } from "#test/support/translation/pure-translation";

const message = (text: string): object => ({
  id: "m",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});

interface Told {
  readonly deltas: readonly string[];
  readonly textDone?: string;
  readonly itemDone?: string;
  readonly final?: string;
}

function told({ deltas, textDone, itemDone, final }: Told): string {
  const place = { item_id: "m", output_index: 0, content_index: 0 };
  const output = final === undefined ? [] : [message(final)];
  const events: readonly (Readonly<Record<string, unknown>> & { readonly type: string })[] = [
    { type: "response.created", ...{ response: { id: "r", status: "in_progress", output: [] } } },
    { type: "response.output_item.added", ...{ output_index: 0, item: { ...message(""), content: [] } } },
    ...deltas.map((delta) => ({ type: "response.output_text.delta", ...place, delta })),
    ...(textDone === undefined ? [] : [{ type: "response.output_text.done", ...place, text: textDone }]),
    ...(itemDone === undefined
      ? []
      : [{ type: "response.output_item.done", output_index: 0, item: message(itemDone) }]),
    { type: "response.completed", ...{ response: { id: "r", status: "completed", output } } },
  ];
  return events
    .map((event, number) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: number })}\n\n`)
    .join("");
}

describe("responses: a text that comes again in full", () => {
  for (const { name, said, streamed, whole } of [
    {
      name: "extends its deltas when it is done",
      said: { deltas: ["ab"], textDone: "abcd" },
      streamed: "abcd",
      whole: "abcd",
    },
    { name: "extends them with its item", said: { deltas: ["ab"], itemDone: "abcd" }, streamed: "abcd", whole: "abcd" },
    { name: "extends them at the end", said: { deltas: ["ab"], final: "abcd" }, streamed: "abcd", whole: "abcd" },
    {
      name: "extends what was done already",
      said: { deltas: ["ab"], textDone: "ab", final: "abcd" },
      streamed: "abcd",
      whole: "abcd",
    },
    { name: "comes at the end alone", said: { deltas: [], final: "abcd" }, streamed: "abcd", whole: "abcd" },
    {
      name: "says another thing",
      said: { deltas: ["ab"], textDone: "xy", itemDone: "xy", final: "xy" },
      streamed: "ab",
      whole: "xy",
    },
    { name: "fills a hole", said: { deltas: ["ab", "ef"], itemDone: "abcdef" }, streamed: "abef", whole: "abcdef" },
    {
      name: "goes on behind a finished item",
      said: { deltas: ["ab"], itemDone: "ab", final: "abcd" },
      streamed: "ab",
      whole: "ab",
    },
  ]) {
    it(`${name}: as a stream of another format`, () => {
      const stream = streamOf("Responses", "ChatCompletions", smallestCalls.ChatCompletions, told(said));
      assert.equal([...stream.matchAll(/"content":"([^"]*)"/g)].map(([, text]) => text).join(""), streamed);
    });
    it(`${name}: as a whole reply`, () => {
      const { reply } = aggregated("Responses", told(said));
      assert.match(JSON.stringify(reply["output"]), new RegExp(`"text":"${whole}"`));
    });
  }
});
