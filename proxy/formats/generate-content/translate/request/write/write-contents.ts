/**
 * Writes turns as `systemInstruction` and `contents` (docs/design/translation.md 4 and 6.2).
 *
 * Results of one model turn go into one content of the user, alone and in the order of the calls; everything else that
 * the user says follows in a content of its own, because Gemini 3 refuses a mixture.
 */

import { rawArgumentsMember } from "#proxy/formats/generate-content/translate/raw-arguments";
import {
  serverToolParts,
  signatureOf,
  skippedSignature,
} from "#proxy/formats/generate-content/translate/thought-signature";
import { argumentsObject } from "#proxy/json/json-text";
import type { JsonObject } from "#proxy/json/json-value";
import type {
  CallPart,
  Conversation,
  Part,
  ReasoningPart,
  ResultPart,
  TextPart,
  Turn,
} from "#proxy/neutral/conversation";
import { functionArguments } from "#proxy/neutral/tools/custom-tools";
import { markWhere } from "#proxy/neutral/turns/cache-marks";
import { demoteSystem } from "#proxy/neutral/turns/demote-system";
import { mergeTurns } from "#proxy/neutral/turns/merge-turns";
import { pairResults } from "#proxy/neutral/turns/pair-results";
import { writeMedia } from "./write-media.ts";
import type { WriteOptions } from "./write-options.ts";
import { writeResult } from "./write-result.ts";

export interface WrittenContents {
  readonly systemInstruction?: JsonObject;
  readonly contents: readonly JsonObject[];
  /** They hold what Google's own tools did. */
  readonly hasServerTools: boolean;
}

export function writeContents({ turns }: Conversation, options: WriteOptions): WrittenContents {
  const ordered = mergeTurns(demoteSystem(pairResults(turns)), ({ role }) => role);
  const leading = ordered.filter(({ role }) => role === "system");
  for (const part of leading.flatMap(({ parts }) => parts)) declareHints(part, options);
  const system = leading.flatMap(({ parts }) => parts.filter(isSpoken));
  const rest = ordered.filter(({ role }) => role !== "system");
  const writer = new ContentsWriter(options);
  if (system.length === 0) return writer.write(rest);
  if (options.traits.takesSystemInstruction) {
    const parts = system.map(({ text }) => ({ text }));
    return { systemInstruction: { parts }, ...writer.write(rest) };
  }
  // Gemma and speech models know no system text: it begins what the user says.
  const told: Turn = { role: "user", parts: system };
  return writer.write(mergeTurns([told, ...rest], ({ role }) => role));
}

function isSpoken(part: Part): part is TextPart {
  return part.kind === "text" && part.text !== "";
}

class ContentsWriter {
  readonly #options: WriteOptions;
  /** Of the model's turn before, in their order, which is that of their results; an id may be used twice. */
  #calls: readonly CallPart[] = [];
  #hasServerTools = false;

  constructor(options: WriteOptions) {
    this.#options = options;
  }

  write(turns: readonly Turn[]): WrittenContents {
    const contents = this.#writeTurns(turns);
    return { contents, hasServerTools: this.#hasServerTools };
  }

  #writeTurns(turns: readonly Turn[]): JsonObject[] {
    const contents: JsonObject[] = [];
    /** Parts of the content before, when it is the user's and holds no results. */
    let said: JsonObject[] | undefined;
    const currentFrom = startOfCurrentTurn(turns);
    for (const [index, { role, parts }] of turns.entries()) {
      if (role === "assistant") {
        const written = this.#writeModelParts(parts, index >= currentFrom);
        // The first content must be the user's.
        if (contents.length === 0 && written.length > 0) contents.push({ role: "user", parts: [{ text: "." }] });
        if (written.length === 0) continue;
        contents.push({ role: "model", parts: written });
        said = undefined;
      } else if (role === "tool") {
        contents.push({ role: "user", parts: this.#writeResults(parts) });
        said = undefined;
      } else {
        // Results within a user's turn are no longer there: pairing has moved them.
        const written = parts.flatMap((part) => this.#writeUserPart(part));
        // Text beside results is refused, so it is not joined to them.
        if (said !== undefined) for (const part of written) said.push(part);
        else if (written.length > 0) {
          said = written;
          contents.push({ role: "user", parts: said });
        }
      }
    }
    if (contents.length === 0) contents.push({ role: "user", parts: [{ text: "." }] });
    return contents;
  }

  #writeUserPart(part: Part): JsonObject[] {
    declareHints(part, this.#options);
    if (part.kind === "text" || part.kind === "refusal") return part.text === "" ? [] : [{ text: part.text }];
    return part.kind === "media" ? [writeMedia(part, this.#options.losses)] : [];
  }

  /**
   * Signatures that stand on thinking (clients of formats that have no other place for them) belong to the call or text
   * that follows, and what Google's own tools did stands in front of it. Thinking itself is never sent back.
   */
  #writeModelParts(parts: readonly Part[], isCurrent: boolean): JsonObject[] {
    const written: JsonObject[] = [];
    let waiting: string | undefined;
    let isFirstCall = true;
    this.#calls = parts.filter((part) => part.kind === "call");
    for (const part of parts) {
      declareHints(part, this.#options);
      if (part.kind === "reasoning") {
        waiting = this.#recover(part, written) ?? waiting;
      } else if (part.kind === "call") {
        const own = this.#recover(part, written);
        const signature = own ?? waiting ?? this.#placeholder(isCurrent && isFirstCall);
        written.push(this.#writeCall(part, signature));
        waiting = undefined;
        isFirstCall = false;
      } else if (part.kind === "text" || part.kind === "refusal") {
        const own = part.kind === "text" ? this.#recover(part, written) : undefined;
        const signature = own ?? waiting;
        if (part.text === "" && signature === undefined) continue;
        written.push({ text: part.text, ...(signature === undefined ? {} : { thoughtSignature: signature }) });
        waiting = undefined;
      } else if (part.kind === "media") {
        written.push(writeMedia(part, this.#options.losses));
      }
    }
    if (waiting !== undefined && written.length > 0) written.push({ text: "", thoughtSignature: waiting });
    return written;
  }

  /** Puts what Google's own tools did in front of a part that carries it. @returns the part's signature */
  #recover(part: ReasoningPart | CallPart | TextPart, written: JsonObject[]): string | undefined {
    const states = this.#options.target.states.recover(part);
    if (states.length === 0) return undefined;
    if (this.#options.traits.mixesBuiltInTools) {
      for (const done of serverToolParts(states)) {
        written.push(done);
        if (done["toolCall"] !== undefined || done["toolResponse"] !== undefined) this.#hasServerTools = true;
      }
    }
    return signatureOf(states);
  }

  /** The first call of each step of the current turn must be signed (docs/design/generate-content.md 3.3). */
  #placeholder(isNeeded: boolean): string | undefined {
    return isNeeded && this.#options.traits.checksSignatures ? skippedSignature : undefined;
  }

  #writeCall(call: CallPart, signature: string | undefined): JsonObject {
    const text = functionArguments(call);
    const id = this.#idOf(call);
    const functionCall = {
      ...(id === undefined ? {} : { id }),
      name: this.#options.names.toUpstream(call.name),
      args: argumentsObject(text) ?? { [rawArgumentsMember]: text },
    };
    return { functionCall, ...(signature === undefined ? {} : { thoughtSignature: signature }) };
  }

  #writeResults(parts: readonly Part[]): JsonObject[] {
    const results: JsonObject[] = [];
    const besides: JsonObject[] = [];
    for (const [index, part] of parts.filter((part) => part.kind === "result").entries()) {
      declareHints(part, this.#options);
      const written = this.#writeResult(part, this.#calls[index]);
      results.push(written.part);
      for (const part of written.besides) besides.push(part);
    }
    return [...results, ...besides];
  }

  /** Results are said by their call's name. */
  #writeResult(part: ResultPart, call: CallPart | undefined): ReturnType<typeof writeResult> {
    const { traits, names, losses } = this.#options;
    return writeResult(part, {
      name: names.toUpstream(call?.name ?? part.name ?? "unknown"),
      id: call === undefined ? undefined : this.#idOf(call),
      takesParts: traits.takesResultParts,
      losses,
    });
  }

  /** Only an id that Google made goes back to it (docs/design/translation.md 5.3). */
  #idOf({ id, isNativeId }: CallPart): string | undefined {
    return this.#options.traits.takesCallIds && (isNativeId === true || googleId.test(id)) ? id : undefined;
  }
}

/** Google caches by itself, and names no sources of files. */
function declareHints(part: Part, options: WriteOptions): void {
  const { losses, target } = options;
  if (part.where === undefined) return;
  if (part.cache !== undefined) losses.drop(markWhere(part, part.cache));
  if (part.kind === "media" && part.wantsCitations === true) losses.drop(`${part.where}.citations`);
  if (part.kind !== "result") return;
  for (const inner of part.content) {
    declareHints(inner, options);
    const isLost = inner.kind === "media" && (inner.detail ?? "auto") !== "auto";
    if (isLost) losses.drop(`${inner.where ?? part.where}.${target.fieldName("mediaDetail")}`);
  }
}

/** Google's own ids are eight small letters and digits; other vendors' and ours have a prefix and more. */
const googleId = /^[a-z0-9]{8}$/;

/** Everything behind the last thing that the user said himself. */
function startOfCurrentTurn(turns: readonly Turn[]): number {
  return turns.findLastIndex(({ role }) => role === "user") + 1;
}
