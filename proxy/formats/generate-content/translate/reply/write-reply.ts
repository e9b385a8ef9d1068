/** Writes a whole reply for a client of generateContent (`ClientTranslator.writeReply`). */

import type { ReplyContext } from "#proxy/formats/translator";
import type { JsonObject } from "#proxy/json/json-value";
import { UniqueIds } from "#proxy/neutral/ids/unique-ids";
import type { Candidate, Reply, TokenLogprob } from "#proxy/neutral/reply";
import { writeFinish } from "./finish-reasons.ts";
import { writeLogprobs } from "./logprobs.ts";
import { PendingStates } from "./pending-states.ts";
import { TextParts } from "./text-parts.ts";
import { writeGrounding } from "./write-grounding.ts";
import { writeCallPart, writeHostedParts, writeMediaPart } from "./write-parts.ts";
import { writeUsage } from "./write-usage.ts";

export function writeReply(reply: Reply, context: ReplyContext): JsonObject {
  const [first, ...more] = reply.candidates;
  const isBlocked = first?.finish.isPromptBlocked === true && first.blocks.length === 0 && more.length === 0;
  const message = first?.finish.explanation;
  return {
    ...(isBlocked
      ? { promptFeedback: { blockReason: "SAFETY", ...(message === undefined ? {} : { blockReasonMessage: message }) } }
      : { candidates: reply.candidates.map((candidate, index) => writeCandidate(candidate, index, context)) }),
    ...(reply.usage === undefined ? {} : { usageMetadata: writeUsage(reply.usage) }),
    modelVersion: context.conversation.model,
    responseId: context.newId(""),
  };
}

function writeCandidate({ blocks, finish }: Candidate, index: number, context: ReplyContext): JsonObject {
  const { conversation, newId } = context;
  const pending = new PendingStates(context);
  const ids = new UniqueIds();
  const parts: JsonObject[] = [];
  const texts = new TextParts(parts, blocks);
  const queries: string[] = [];
  const tokens: TokenLogprob[] = [];
  for (const block of blocks) {
    if (block.kind === "media") {
      parts.push(...writeMediaPart(block));
      continue;
    }
    if (block.kind === "hosted") {
      parts.push(...writeHostedParts(block));
      queries.push(...(block.queries ?? []));
      continue;
    }
    pending.add(...block.states);
    if (block.kind === "call") {
      parts.push(writeCallPart(block, ids.assign(block.id ?? newId("call_")), pending.consumeForCall()));
    } else if (block.kind === "reasoning") {
      if (conversation.reasoning?.show === true && block.text !== "") parts.push({ text: block.text, thought: true });
    } else if (block.kind === "text") {
      texts.add(block);
      for (const token of block.logprobs) tokens.push(token);
    } else if (block.text !== "") parts.push({ text: block.text });
  }
  const signature = pending.takeRest();
  if (signature !== undefined) parts.push({ text: "", thoughtSignature: signature });
  // The official SDK's chat forgets a turn whose content is empty.
  if (parts.length === 0) parts.push({ text: "" });
  const grounding = writeGrounding(texts.cited, queries);
  return {
    content: { role: "model", parts },
    finishReason: writeFinish(finish),
    ...(finish.explanation === undefined ? {} : { finishMessage: finish.explanation }),
    index,
    ...(grounding === undefined ? {} : { groundingMetadata: grounding }),
    ...(conversation.sampling.logprobs === true && tokens.length > 0 ? { logprobsResult: writeLogprobs(tokens) } : {}),
  };
}
