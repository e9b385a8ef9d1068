/** Writes a whole reply as a chat completion (docs/design/chat-completions.md 5). */

import type { ReplyContext } from "#proxy/formats/translator";
import type { JsonObject } from "#proxy/json/json-value";
import { UniqueIds } from "#proxy/neutral/ids/unique-ids";
import { omittedText } from "#proxy/neutral/media/omitted-media";
import { wavFile } from "#proxy/neutral/media/wav-file";
import type { CallBlock, Candidate, MediaBlock, Reply, ReplyBlock } from "#proxy/neutral/reply";
import { writeAnnotation } from "./citations.ts";
import { writeFinish } from "./finish-reason.ts";
import { writeLogprobs } from "./logprobs.ts";
import { hasPlace, isAudio, joinedBase64, writeAudio, writeImage } from "./media.ts";
import { showsReasoning, TurnStates, tierMember, writeCall } from "./write-message.ts";
import { writeUsage } from "./write-usage.ts";

export function writeReply(reply: Reply, context: ReplyContext): JsonObject {
  return {
    id: context.newId("chatcmpl-"),
    object: "chat.completion",
    created: context.nowSeconds,
    model: context.conversation.model,
    choices: reply.candidates.map((candidate, index) => writeChoice(candidate, index, context)),
    ...(reply.usage === undefined ? {} : { usage: writeUsage(reply.usage) }),
    ...tierMember(reply.serviceTier),
  };
}

function writeChoice(candidate: Candidate, index: number, context: ReplyContext): JsonObject {
  const isLegacy = context.conversation.usesLegacyFunctions === true;
  const blocks = candidate.blocks.map(placed);
  const logprobs = blocks.flatMap((block) => (block.kind === "text" ? block.logprobs : []));
  return {
    index,
    message: writeMessage(blocks, context),
    logprobs: writeLogprobs(logprobs),
    finish_reason: writeFinish(candidate.finish, isLegacy),
  };
}

/** What has no place is told of in the text. */
function placed(block: ReplyBlock): ReplyBlock {
  if (block.kind !== "media" || hasPlace(block)) return block;
  return { kind: "text", text: omittedText(block), citations: [], logprobs: [], states: [] };
}

function writeMessage(blocks: readonly ReplyBlock[], context: ReplyContext): JsonObject {
  const reasoning = showsReasoning(context) ? joined(blocks, "reasoning") : "";
  return {
    role: "assistant",
    content: joined(blocks, "text") || null,
    refusal: joined(blocks, "refusal") || null,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...listMember("annotations", writeAnnotations(blocks)),
    ...listMember("images", writeImages(blocks)),
    ...audioMember(blocks, context),
    ...writeCalls(blocks, context),
  };
}

function writeImages(blocks: readonly ReplyBlock[]): JsonObject[] {
  return blocks.flatMap((block): readonly JsonObject[] => {
    const image = block.kind === "media" ? writeImage(block) : undefined;
    return image === undefined ? [] : [image];
  });
}

function joined(blocks: readonly ReplyBlock[], kind: "text" | "refusal" | "reasoning"): string {
  return blocks.flatMap((block) => (block.kind === kind ? [block.text] : [])).join("");
}

function listMember(name: string, list: readonly JsonObject[]): JsonObject {
  return list.length === 0 ? {} : { [name]: list };
}

/** Texts are joined, so their offsets move by what stands before. */
function writeAnnotations(blocks: readonly ReplyBlock[]): JsonObject[] {
  let offset = 0;
  const annotations: JsonObject[] = [];
  for (const block of blocks) {
    if (block.kind !== "text") continue;
    for (const citation of block.citations) annotations.push(writeAnnotation(citation, offset, block.text.length));
    offset += block.text.length;
  }
  return annotations;
}

function audioMember(blocks: readonly ReplyBlock[], { conversation, newId, nowSeconds }: ReplyContext): JsonObject {
  const heard = blocks.filter((block): block is MediaBlock => block.kind === "media" && isAudio(block));
  const [first] = heard;
  if (first === undefined) return {};
  // An upstream that streamed said it in pieces.
  const data = joinedBase64(heard.flatMap(({ mime, base64 = "" }) => (mime === first.mime ? [base64] : [])));
  const file = conversation.audioOutput?.format === "wav" ? wavFile(first.mime, data) : undefined;
  return { audio: writeAudio(first, file ?? data, newId("audio_"), nowSeconds) };
}

/** An absent list says that there are none: agents take an empty one for a turn of tools. */
function writeCalls(blocks: readonly ReplyBlock[], context: ReplyContext): JsonObject {
  const states = new TurnStates();
  const ids = new UniqueIds();
  const calls: JsonObject[] = [];
  const blocksOfCalls: CallBlock[] = [];
  for (const block of blocks) {
    if (block.kind === "reasoning" || block.kind === "hosted")
      for (const state of block.states ?? []) states.add(state);
    if (block.kind !== "call") continue;
    const id = ids.assign(block.id ?? context.newId("call_"));
    const signature = states.signatureMember(block.states, context);
    states.keep(id, block.states, context);
    const args = block.tool === "function" && block.arguments.trim() === "" ? "{}" : block.arguments;
    calls.push({ ...writeCall(block, id, args), ...signature });
    blocksOfCalls.push(block);
  }
  const [first] = blocksOfCalls;
  if (context.conversation.usesLegacyFunctions !== true || first === undefined) return listMember("tool_calls", calls);
  // The older form has one call and no id.
  return {
    function_call: { name: first.name, arguments: first.arguments.trim() === "" ? "{}" : first.arguments },
    ...listMember("tool_calls", calls.slice(1)),
  };
}
