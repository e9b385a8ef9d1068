/** Says a whole answer as a stream: for a client that streams and an upstream that did not. One delta for each part. */
import type { Reply, ReplyBlock, ReplyEvent } from "./reply.ts";

export function* unfoldReply(reply: Reply): Generator<ReplyEvent, void> {
  yield { type: "start", id: reply.id, model: reply.model, serviceTier: reply.serviceTier };
  for (const [candidate, { blocks, finish }] of reply.candidates.entries()) {
    for (const [part, block] of blocks.entries()) yield* unfoldBlock(candidate, part, block);
    yield { type: "finish", candidate, finish };
  }
  if (reply.usage !== undefined) yield { type: "usage", usage: reply.usage };
  yield { type: "end" };
}

function* unfoldBlock(candidate: number, part: number, block: ReplyBlock): Generator<ReplyEvent, void> {
  const at = { candidate, part };
  switch (block.kind) {
    case "text":
      yield { type: "open", ...at, block: { kind: "text" } };
      if (block.text !== "") yield { type: "delta", ...at, text: block.text };
      for (const citation of block.citations) yield { type: "citation", ...at, citation };
      if (block.logprobs.length > 0) yield { type: "logprobs", ...at, tokens: block.logprobs };
      for (const state of block.states) yield { type: "state", ...at, state };
      break;
    case "refusal":
    case "reasoning":
      yield { type: "open", ...at, block: { kind: block.kind } };
      if (block.text !== "") yield { type: "delta", ...at, text: block.text };
      for (const state of block.states) yield { type: "state", ...at, state };
      break;
    case "call":
      yield { type: "open", ...at, block: { kind: "call", id: block.id, name: block.name, tool: block.tool } };
      for (const state of block.states) yield { type: "state", ...at, state };
      if (block.arguments !== "") yield { type: "delta", ...at, text: block.arguments };
      break;
    default:
      yield { type: "open", ...at, block };
  }
  yield { type: "close", ...at };
}
