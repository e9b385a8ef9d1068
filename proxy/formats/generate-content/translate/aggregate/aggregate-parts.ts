/** Aggregates the parts of one candidate, frame by frame (docs/design/generate-content.md 3.2 and 5.1). */

import { isMembers, setMembers, without } from "#proxy/formats/aggregate/members";
import { PartialArguments } from "#proxy/formats/generate-content/translate/stream/partial-arguments";
import type { JsonObject } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";

/** A call whose arguments Vertex streams by paths. */
interface OpenCall {
  readonly place: number;
  readonly arguments: PartialArguments;
}

export class PartsAggregator {
  #parts: unknown[] | undefined;
  #call: OpenCall | undefined;

  /**
   * @param parts of the next frame that has any
   * @throws InvalidReply when anything follows a call that is not complete
   */
  add(parts: readonly unknown[]): void {
    const isFirst = this.#parts === undefined;
    this.#parts ??= [];
    for (const [index, part] of parts.entries()) this.#add(part, this.#parts, isFirst, index === 0);
  }

  /** Whether more of the last call was to come. */
  get hasHalfCall(): boolean {
    return this.#call !== undefined;
  }

  /** @returns undefined when no frame had parts */
  whole(): readonly unknown[] | undefined {
    this.#endCall(true);
    return this.#parts;
  }

  #add(part: unknown, parts: unknown[], isFirstFrame: boolean, isFirstPart: boolean): void {
    if (!isMembers(part)) {
      parts.push(part);
      return;
    }
    const call = part["functionCall"];
    if (isMembers(call) && (this.#call !== undefined || isPiece(call))) {
      this.#addCall(part, call, parts);
      return;
    }
    if (!isEmptyText(part)) this.#refuseHalfCall();
    const last = parts.at(-1);
    if (!isFirstFrame && isPlainText(part)) {
      if (part["text"] === "") return;
      if (isFirstPart && isMembers(last) && isPlainText(last) && last["thought"] === part["thought"]) {
        last["text"] = `${last["text"]}${part["text"]}`;
        return;
      }
    }
    parts.push(part);
  }

  #addCall(part: JsonObject, call: JsonObject, parts: unknown[]): void {
    const { name } = call;
    if (typeof name === "string" && name !== "") {
      this.#refuseHalfCall();
      parts.push({ ...part, functionCall: without(call, "partialArgs", "willContinue") });
      this.#call = { place: parts.length - 1, arguments: new PartialArguments(call["args"]) };
    } else if (this.#call === undefined) {
      // Vertex ends each streamed call with an empty one, also where nothing was streamed.
      if (Object.keys(call).length > 0) throw new InvalidReply("a call has no name");
      return;
    } else {
      const opened = parts[this.#call.place];
      if (isMembers(opened)) setMembers(opened, without(part, "functionCall"));
    }
    this.#call?.arguments.apply(call["partialArgs"]);
    if (call["willContinue"] !== true) this.#endCall();
  }

  /**
   * A streamed call says itself where it ends (docs/design/generate-content.md 5.1): what follows a half one does not
   * make it whole.
   */
  #refuseHalfCall(): void {
    if (this.#call !== undefined) throw new InvalidReply("a tool call was never completed");
  }

  /** @param isHalf the reply was cut off in it: the format has a word for that */
  #endCall(isHalf = false): void {
    const open = this.#call;
    this.#call = undefined;
    const part = open === undefined ? undefined : this.#parts?.[open.place];
    if (open === undefined || this.#parts === undefined || !isMembers(part)) return;
    if (!isMembers(part["functionCall"])) return;
    part["functionCall"]["args"] = open.arguments.value;
    if (isHalf) part["functionCall"]["willContinue"] = true;
  }
}

/** A call that streams its arguments, or a piece of one. */
function isPiece(call: JsonObject): boolean {
  return "willContinue" in call || "partialArgs" in call || typeof call["name"] !== "string";
}

function isEmptyText(part: JsonObject): boolean {
  return part["text"] === "" && isPlainText(part);
}

/** Nothing but text: what carries a signature or anything unknown is a part of its own. */
function isPlainText(part: JsonObject): boolean {
  if (typeof part["text"] !== "string") return false;
  return Object.keys(part).every((name) => name === "text" || name === "thought");
}
