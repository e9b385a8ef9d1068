/** Aggregates the tool calls of one message from the pieces in its deltas (docs/design/chat-completions.md 6). */

import { isMembers, type MutableObject, without } from "#proxy/formats/aggregate/members";
import {
  argumentsText,
  callOfPiece,
  toolCallsMax,
} from "#proxy/formats/chat-completions/translate/stream/call-of-piece";
import { JsonBalance } from "#proxy/formats/chat-completions/translate/stream/json-balance";
import { asText, type JsonObject } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";
import { mergeMember } from "./aggregate-member.ts";

interface AggregatedCall {
  readonly index: unknown;
  id: string;
  name: string;
  /** Arguments of a function or input of a custom tool. */
  text: string;
  isCustom: boolean;
  /** A `{}` came first: all there is, unless more comes. */
  hasOpening: boolean;
  readonly balance: JsonBalance;
  /** What stands beside them. */
  readonly members: MutableObject;
  readonly called: MutableObject;
}

export class CallsAggregator {
  readonly #calls: AggregatedCall[] = [];

  get isEmpty(): boolean {
    return this.#calls.length === 0;
  }

  /** @throws InvalidReply for more calls than any client takes */
  add(pieces: readonly unknown[]): void {
    for (const piece of pieces) if (isMembers(piece)) this.#add(piece);
  }

  whole(): readonly JsonObject[] {
    return this.#calls.map(({ id, isCustom, name, text, members, called }) => {
      const { type, ...others } = members;
      const isBlank = text.trim() === "";
      return {
        ...(id === "" ? {} : { id }),
        type: type ?? (isCustom ? "custom" : "function"),
        // Strict clients parse the arguments: without any they are an empty object.
        ...(isCustom
          ? { custom: { ...called, name, input: text } }
          : { function: { ...called, name, arguments: isBlank ? "{}" : text } }),
        ...others,
      };
    });
  }

  #add(piece: JsonObject): void {
    const { custom, function: called } = piece;
    const isCustom = isMembers(custom);
    const given = isCustom ? custom : isMembers(called) ? called : {};
    const name = asText(given["name"]);
    const text = argumentsText(given[isCustom ? "input" : "arguments"]);
    const call = this.#callOf(piece["index"], asText(piece["id"]), name, text);
    call.isCustom ||= isCustom;
    if (call.id === "") call.id = asText(piece["id"]);
    if (call.name === "") call.name = name;
    addText(call, text);
    for (const [member, value] of Object.entries(without(piece, "index", "id", "function", "custom"))) {
      mergeMember(call.members, member, value);
    }
    for (const [member, value] of Object.entries(without(given, "name", "arguments", "input"))) {
      mergeMember(call.called, member, value);
    }
  }

  #callOf(index: unknown, id: string, name: string, text: string): AggregatedCall {
    const known = callOfPiece(this.#calls, { index, id, name, text }, ({ balance }) => balance.isClosed);
    if (known !== undefined) return known;
    if (this.#calls.length >= toolCallsMax) throw new InvalidReply("the reply has too many tool calls");
    const call: AggregatedCall = {
      index,
      id: "",
      name: "",
      text: "",
      isCustom: false,
      hasOpening: false,
      balance: new JsonBalance(),
      members: {},
      called: {},
    };
    this.#calls.push(call);
    return call;
  }
}

/** Some vendors open a function with `{}` and send the real arguments then (pitfall 27). */
function addText(call: AggregatedCall, text: string): void {
  if (text === "" || (call.hasOpening && call.text === "" && text.trim() === "")) return;
  if (!call.isCustom && call.text === "" && !call.hasOpening && text.trim() === "{}") {
    call.hasOpening = true;
    return;
  }
  call.text += text;
  call.balance.add(text);
}
