/** Events of a responses stream for tests, and what is read from them in short words. */
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import type { ReplyBlock } from "#proxy/neutral/reply";
import { readStream } from "./responses-exchange.ts";

export type Event = Readonly<Record<string, unknown>>;

export function streamOf(events: readonly Event[]): Buffer {
  return Buffer.from(
    events
      .map(
        (event, index) => `event: ${event["type"]}\ndata: ${JSON.stringify({ sequence_number: index, ...event })}\n\n`,
      )
      .join(""),
  );
}

export const created: Event = {
  type: "response.created",
  response: { id: "resp_1", model: "up", status: "in_progress" },
};
export const added = (output_index: number, item: Event): Event => ({
  type: "response.output_item.added",
  output_index,
  item,
});
export const done = (output_index: number, item: Event): Event => ({
  type: "response.output_item.done",
  output_index,
  item,
});
export const message: Event = { type: "message", id: "msg_1", role: "assistant", content: [] };
export const said = (text: string): Event => ({
  ...message,
  content: [{ type: "output_text", text, annotations: [] }],
});
export const delta = (output_index: number, text: string, type = "output_text"): Event => ({
  type: `response.${type}.delta`,
  output_index,
  content_index: 0,
  delta: text,
});
export const call: Event = { type: "function_call", id: "fc_1", call_id: "call_1", name: "f", arguments: "" };
export const completed = (output: readonly Event[] = [], changes: Event = {}): Event => ({
  type: "response.completed",
  response: { id: "resp_1", status: "completed", output, ...changes },
});

export function blocksOf(...events: readonly Event[]): readonly ReplyBlock[] {
  return aggregateReply(readStream(streamOf([created, ...events]))).candidates[0]?.blocks ?? [];
}

/** What blocks say, without their empty lists. */
export function factsOf(blocks: readonly ReplyBlock[]): unknown {
  return blocks.map((block) =>
    block.kind === "call"
      ? `${block.kind} ${block.id} ${block.name} ${block.arguments}`
      : "text" in block
        ? `${block.kind} ${block.text}`
        : block.kind,
  );
}
