/** Writes parts of a conversation as content blocks (docs/design/translation.md 4.3, 5.4 and 5.5). */

import { CallIds } from "#proxy/formats/messages/translate/call-ids";
import { argumentsObject } from "#proxy/json/json-text";
import type { MediaPart, Part, ProviderState, ResultPart, TextPart } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";
import type { StateKeeper } from "#proxy/neutral/state/keeper";
import { functionArguments } from "#proxy/neutral/tools/custom-tools";
import type { PropertyKeys } from "#proxy/neutral/tools/property-keys";
import type { ToolNames } from "#proxy/neutral/tools/tool-names";
import { type Block, bareText } from "./block.ts";
import { cacheControl } from "./write-cache.ts";
import { writeMedia } from "./write-media.ts";

export interface ContentOptions {
  readonly names: ToolNames;
  readonly keys: PropertyKeys;
  readonly states: StateKeeper;
  readonly losses: Losses;
  /** Whether the target knows the times that cache marks may name. */
  readonly takesTtl: boolean;
  /** Whether the model thinks at all: else thinking of earlier turns is left out. */
  readonly takesThinking: boolean;
}

/** Ids of calls; results follow their calls, in the same order (`pairResults`). */
export class ResultIds {
  readonly #ids = new CallIds();
  readonly #open: string[] = [];
  #resultCount = 0;

  /** The id under which a call is written. */
  open(id: string): string {
    const unique = this.#ids.assign(id);
    this.#open.push(unique);
    return unique;
  }

  /** The id of the next call without a result. */
  nextResultId(): string | undefined {
    this.#resultCount += 1;
    return this.#open[this.#resultCount - 1];
  }
}

/**
 * Blocks of one turn, in the order of its parts. Clients of other formats hold thinking with the call or text that it led
 * to: it stands before that part, and the first before everything, for that is where the vendor wants it.
 */
export function writeAssistantParts(parts: readonly Part[], ids: ResultIds, options: ContentOptions): readonly Block[] {
  const blocks: Block[] = [];
  let isOnlyText = true;
  // State that a part and a call both hold is written once.
  const seen = new Set<unknown>();
  for (const part of parts) {
    if (part.kind === "reasoning" || part.kind === "call" || part.kind === "text") {
      const thinking = thinkingBlocks(part, seen, options);
      blocks.splice(isOnlyText && part.kind !== "reasoning" ? 0 : blocks.length, 0, ...thinking);
      if (thinking.length > 0 || part.kind === "call") isOnlyText = false;
    }
    if (part.kind === "call") blocks.push(writeCall(part, ids.open(part.id), options));
    else if (part.kind === "media") {
      options.losses.refuse(
        part.where ?? "messages",
        "is media in a message of the assistant, which the selected model does not accept.",
      );
    } else blocks.push(...writeTexts([part], options.takesTtl));
  }
  return blocks;
}

/** Blocks of the user's side. */
export function writeUserParts(parts: readonly Part[], ids: ResultIds, options: ContentOptions): readonly Block[] {
  return parts.flatMap((part): readonly Block[] => {
    if (part.kind === "result") return [writeResult(part, ids.nextResultId() ?? part.callId, options)];
    if (part.kind === "media") {
      return [{ ...writeMedia(part, options.losses), ...cacheControl(part.cache, options.takesTtl) }];
    }
    return writeTexts([part], options.takesTtl);
  });
}

/** Texts as blocks; the vendor refuses empty ones and those of white space. */
export function writeTexts(parts: readonly Part[], takesTtl: boolean): Block[] {
  return parts.flatMap((part) => {
    const isText = part.kind === "text" || part.kind === "refusal";
    if (!isText || part.text.trim() === "") return [];
    return [{ type: "text", text: part.text, ...cacheControl(part.cache, takesTtl) }];
  });
}

function writeCall(
  part: Extract<Part, { kind: "call" }>,
  id: string,
  { names, keys, takesTtl }: ContentOptions,
): Block {
  const text = functionArguments(part);
  const given = argumentsObject(text);
  return {
    type: "tool_use",
    id,
    name: names.toUpstream(part.name),
    input: given === undefined ? { _raw: text } : keys.fitArguments(part.name, given),
    ...cacheControl(part.cache, takesTtl),
  };
}

function writeResult(part: ResultPart, id: string, options: ContentOptions): Block {
  const content = resultContent(part.content, options);
  return {
    type: "tool_result",
    tool_use_id: id,
    ...(content === undefined ? {} : { content }),
    ...(part.isError === true ? { is_error: true } : {}),
    ...cacheControl(part.cache, options.takesTtl),
  };
}

function resultContent(
  parts: readonly (TextPart | MediaPart)[],
  options: ContentOptions,
): string | readonly Block[] | undefined {
  const blocks = parts.flatMap((part): Block[] =>
    part.kind === "text" ? writeTexts([part], options.takesTtl) : [writeMedia(part, options.losses)],
  );
  return blocks.length === 0 ? undefined : bareText(blocks);
}

/**
 * Signed thinking that this very channel gave; text without its signature would be refused (pitfalls 91, 93, 134).
 * @param seen signatures of the turn so far; gets the new ones
 */
function thinkingBlocks(
  part: Extract<Part, { kind: "reasoning" | "call" | "text" }>,
  seen: Set<unknown>,
  { states, takesThinking }: ContentOptions,
): Block[] {
  if (!takesThinking) return [];
  const fresh: Block[] = [];
  for (const block of states.recover(part).flatMap(thinkingBlock)) {
    const identity = block["signature"] ?? block["data"];
    if (!seen.has(identity)) fresh.push(block);
    seen.add(identity);
  }
  return fresh;
}

function thinkingBlock(state: ProviderState): readonly Block[] {
  if (state.kind === "redacted-thinking") return [{ type: "redacted_thinking", data: state.data }];
  if (state.kind !== "thinking" || state.signature === "") return [];
  return [{ type: "thinking", thinking: state.text, signature: state.signature }];
}
