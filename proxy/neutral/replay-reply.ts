/**
 * Replays a whole reply as a stream, one delta for each part, for a client that streams and an upstream that did not.
 */
import type { Reply, ReplyBlock, ReplyEvent } from "./reply.ts";

export function replayReply(reply: Reply): readonly ReplyEvent[] {
  const events: ReplyEvent[] = [{ type: "start", id: reply.id, model: reply.model, serviceTier: reply.serviceTier }];
  for (const [candidate, { blocks, finish }] of reply.candidates.entries()) {
    for (const [part, block] of blocks.entries()) replayBlock(candidate, part, block, events);
    events.push({ type: "finish", candidate, finish });
  }
  if (reply.usage !== undefined) events.push({ type: "usage", usage: reply.usage });
  events.push({ type: "end" });
  return events;
}

function replayBlock(candidate: number, part: number, block: ReplyBlock, events: ReplyEvent[]): void {
  switch (block.kind) {
    case "text":
      events.push({ type: "open", candidate, part, block: { kind: "text" } });
      if (block.text !== "") events.push({ type: "delta", candidate, part, text: block.text });
      for (const citation of block.citations) events.push({ type: "citation", candidate, part, citation });
      if (block.logprobs.length > 0) events.push({ type: "logprobs", candidate, part, tokens: block.logprobs });
      for (const state of block.states) events.push({ type: "state", candidate, part, state });
      break;
    case "refusal":
    case "reasoning":
      events.push({ type: "open", candidate, part, block: { kind: block.kind } });
      if (block.text !== "") events.push({ type: "delta", candidate, part, text: block.text });
      for (const state of block.states) events.push({ type: "state", candidate, part, state });
      break;
    case "call":
      events.push({
        type: "open",
        candidate,
        part,
        block: { kind: "call", id: block.id, name: block.name, tool: block.tool },
      });
      for (const state of block.states) events.push({ type: "state", candidate, part, state });
      if (block.arguments !== "") events.push({ type: "delta", candidate, part, text: block.arguments });
      break;
    default:
      events.push({ type: "open", candidate, part, block });
  }
  events.push({ type: "close", candidate, part });
}
