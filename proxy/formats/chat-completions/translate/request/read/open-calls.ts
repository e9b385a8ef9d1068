/**
 * Tracks the tool calls of the history that still wait for a result: gives ids to calls that have none, and finds the
 * call of a result that does not name one (docs/design/translation.md 5.3, pitfalls 59 and 63).
 */
import { asText, isObject, type JsonObject } from "#proxy/json/json-value";
import type { CallPart, CarriedState } from "#proxy/neutral/conversation";
import { isEnvelope } from "#proxy/neutral/state/envelope";
import { missing, wrongType, wrongValue } from "./refusals.ts";

interface WaitingCall {
  readonly id: string;
  readonly name: string;
  hasResult: boolean;
}

/** Calls in their order, of which those with a result at the front are never read again. */
class CallQueue {
  readonly #calls: WaitingCall[] = [];
  #next = 0;

  add(call: WaitingCall): void {
    this.#calls.push(call);
  }

  /** The earliest call without a result. */
  get first(): WaitingCall | undefined {
    while (this.#calls[this.#next]?.hasResult === true) this.#next += 1;
    return this.#calls[this.#next];
  }
}

export class OpenCalls {
  readonly #all = new CallQueue();
  readonly #byId = new Map<string, CallQueue>();
  readonly #byName = new Map<string, CallQueue>();
  #minted = 0;

  /** @throws GatewayError naming the member at fault */
  read(call: unknown, where: string): CallPart {
    if (!isObject(call)) throw wrongType(where, "an object");
    if (call["type"] === "custom") {
      const custom = call["custom"];
      if (!isObject(custom)) throw missing(`${where}.custom`);
      const name = requireName(custom, `${where}.custom`);
      return this.#open({ name, tool: "custom", arguments: asText(custom["input"]) }, call, where);
    }
    const called = call["function"];
    if (!isObject(called)) {
      const type = call["type"];
      if (type === undefined || type === null || type === "function") throw missing(`${where}.function`);
      throw wrongValue(`${where}.type`, 'must be "function" or "custom"');
    }
    const name = requireName(called, `${where}.function`);
    return this.#open({ name, tool: "function", arguments: argumentsText(called["arguments"]) }, call, where);
  }

  /** The older form: no id, no list. */
  readFunctionCall(called: JsonObject, where: string): CallPart {
    const name = requireName(called, where);
    return this.#open({ name, tool: "function", arguments: argumentsText(called["arguments"]) }, {}, where);
  }

  /**
   * The call that a result belongs to: the one of its id, else the earliest waiting one of its name, else the earliest
   * waiting one where the result says neither.
   * @returns undefined when there is none; a result with an unknown id keeps that id
   */
  assignResult(id: string, name: string): { readonly id: string; readonly name?: string | undefined } | undefined {
    const queue = id === "" ? this.#queueOf(name) : this.#byId.get(id);
    const call = queue?.first;
    if (call === undefined) return id === "" ? undefined : { id };
    call.hasResult = true;
    return call;
  }

  #queueOf(name: string): CallQueue | undefined {
    return name === "" ? this.#all : this.#byName.get(name);
  }

  #open(called: Pick<CallPart, "name" | "tool" | "arguments">, holder: JsonObject, where: string): CallPart {
    let id = asText(holder["id"]);
    if (id === "") {
      this.#minted += 1;
      id = `call_unnamed_${this.#minted}`;
    }
    const call = { id, name: called.name, hasResult: false };
    this.#all.add(call);
    addTo(this.#byId, id, call);
    addTo(this.#byName, called.name, call);
    const part: CallPart = { kind: "call", id, ...called, where };
    const state = readSignature(holder);
    return state === undefined ? part : { ...part, states: [state] };
  }
}

function addTo(queues: Map<string, CallQueue>, key: string, call: WaitingCall): void {
  const queue = queues.get(key) ?? new CallQueue();
  queue.add(call);
  queues.set(key, queue);
}

function requireName(called: JsonObject, where: string): string {
  const name = called["name"];
  if (typeof name === "string" && name !== "") return name;
  throw name === undefined || name === null || name === ""
    ? missing(`${where}.name`)
    : wrongType(`${where}.name`, "a string");
}

/** Arguments are JSON in a text; some clients send the object itself. */
function argumentsText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** Google's own place for the signature of a call in this format (pitfall 133). */
function readSignature(call: JsonObject): CarriedState | undefined {
  const extra = call["extra_content"];
  const google = isObject(extra) ? extra["google"] : undefined;
  const signature = isObject(google) ? asText(google["thought_signature"]) : "";
  if (signature === "") return undefined;
  if (isEnvelope(signature)) return { type: "sealed", envelope: signature };
  return { type: "native", state: { kind: "thought-signature", data: signature } };
}
