/**
 * Reads the pieces of one choice's tool calls (docs/design/chat-completions.md 6 and 9): which call a piece belongs to,
 * when a call may open, and when its arguments are whole.
 *
 * A call opens when its name is known and its id is, or will not come. It closes when the next part opens and its
 * arguments are a whole JSON value, else at the end, so that formats with one open block at a time need not wait.
 */
import { asText, isObject, type JsonObject, parseJson } from "#proxy/json/json-value";
import { InvalidReply, type OpenedBlock, type ReplyEvent } from "#proxy/neutral/reply";
import { argumentsText, callOfPiece, toolCallsMax } from "./call-of-piece.ts";
import { JsonBalance } from "./json-balance.ts";

/** All arguments of a choice, held until each is known to be JSON: far beyond what any model writes. */
const charactersMax = 16 * 1024 * 1024;

interface Call {
  readonly index: unknown;
  id: string;
  name: string;
  tool: "function" | "custom";
  /** Arguments so far, `held` not among them. */
  text: string;
  /** An opening `{}` that some vendors send before the real arguments (pitfall 27). */
  held: string;
  readonly balance: JsonBalance;
  /** End of the text that is not sent yet. The whole is only looked at when it is closed: it grows with every piece. */
  pending: string;
  signature: string;
  part: number | undefined;
  isClosed: boolean;
}

export class CallsReader {
  readonly #candidate: number;
  readonly #emit: (event: ReplyEvent) => void;
  readonly #openPart: (block: OpenedBlock) => number;
  readonly #calls: Call[] = [];
  #characters = 0;

  constructor(candidate: number, emit: (event: ReplyEvent) => void, openPart: (block: OpenedBlock) => number) {
    this.#candidate = candidate;
    this.#emit = emit;
    this.#openPart = openPart;
  }

  get hasCalls(): boolean {
    return this.#calls.some((call) => call.name !== "");
  }

  /** @throws InvalidReply for arguments behind whole ones, and beyond the bounds */
  read(piece: JsonObject): void {
    const custom = piece["custom"];
    const called = isObject(custom) ? custom : piece["function"];
    const name = isObject(called) ? asText(called["name"]) : "";
    const text = isObject(called) ? argumentsText(called[isObject(custom) ? "input" : "arguments"]) : "";
    const call = this.#callOf(piece["index"], asText(piece["id"]), name, text);
    if (isObject(custom)) call.tool = "custom";
    if (call.id === "") call.id = asText(piece["id"]);
    if (call.name === "") call.name = name;
    this.#sign(call, signatureOf(piece));
    this.#add(call, text);
    if (call.name !== "" && (call.id !== "" || text !== "")) this.#open(call);
    this.#send(call);
  }

  #callOf(index: unknown, id: string, name: string, text: string): Call {
    const known = callOfPiece(this.#calls, { index, id, name, text }, isDone);
    if (known !== undefined) return known;
    if (this.#calls.length >= toolCallsMax) throw new InvalidReply("the reply has too many tool calls");
    this.closeComplete();
    const call: Call = {
      index,
      id: "",
      name: "",
      tool: "function",
      text: "",
      held: "",
      balance: new JsonBalance(),
      pending: "",
      signature: "",
      part: undefined,
      isClosed: false,
    };
    this.#calls.push(call);
    return call;
  }

  #add(call: Call, text: string): void {
    if (text === "") return;
    this.#characters += text.length;
    if (this.#characters > charactersMax) throw new InvalidReply("the arguments of the tool calls are too long");
    if (call.isClosed) {
      if (text.trim() === "") return;
      throw new InvalidReply("a tool call continues after its end");
    }
    if (call.tool === "function" && call.text === "" && call.held === "" && text.trim() === "{}") {
      call.held = text;
      return;
    }
    if (call.held !== "" && text.trim() === "") return;
    call.held = "";
    call.text += text;
    call.pending += text;
    call.balance.add(text);
  }

  #open(call: Call): void {
    if (call.part !== undefined) return;
    this.closeComplete(call);
    const { id, name, tool } = call;
    call.part = this.#openPart({ kind: "call", id: id === "" ? undefined : id, name, tool });
    this.#emitState(call);
  }

  /** Comes once, with any piece. */
  #sign(call: Call, signature: string): void {
    if (signature === "" || call.signature !== "") return;
    call.signature = signature;
    if (!call.isClosed) this.#emitState(call);
  }

  #emitState({ part, signature }: Call): void {
    if (part === undefined || signature === "") return;
    const state = { kind: "thought-signature", data: signature } as const;
    this.#emit({ type: "state", candidate: this.#candidate, part, state });
  }

  #send(call: Call): void {
    if (call.part === undefined || call.pending === "") return;
    this.#emit({ type: "delta", candidate: this.#candidate, part: call.part, text: call.pending });
    call.pending = "";
  }

  /** Closes the calls that are whole: what follows cannot belong to them. @throws InvalidReply when one is no JSON */
  closeComplete(but?: Call): void {
    for (const call of this.#calls) if (call !== but && isOpen(call) && isWhole(call)) this.#close(call);
  }

  /**
   * @param isCut the reply ended before its time: arguments may end anywhere
   * @throws InvalidReply for a call without a name, and for arguments that are no JSON
   */
  closeAll(isCut: boolean): void {
    for (const call of this.#calls) {
      if (call.isClosed) continue;
      if (call.name === "") {
        if (call.id === "" && call.text === "" && call.held === "") continue;
        if (isCut) continue;
        throw new InvalidReply("a tool call has no name");
      }
      this.#open(call);
      this.#close(call, isCut);
    }
  }

  #close(call: Call, isCut = false): void {
    if (call.part === undefined) return;
    if (!isCut && call.tool === "function" && !isBlank(call) && !isJson(call.text)) {
      throw new InvalidReply("the arguments of a tool call are not JSON");
    }
    if (call.tool === "function" && isBlank(call)) call.pending += "{}";
    this.#send(call);
    call.isClosed = true;
    this.#emit({ type: "close", candidate: this.#candidate, part: call.part });
  }
}

function isDone(call: Call): boolean {
  return call.isClosed || call.balance.isClosed;
}

function isOpen(call: Call): boolean {
  return call.part !== undefined && !call.isClosed;
}

/** No arguments, or nothing but the `{}` that was held back. */
function isBlank(call: Call): boolean {
  return call.text.trim() === "";
}

function isWhole(call: Call): boolean {
  return call.tool === "function" && call.balance.isClosed;
}

function isJson(text: string): boolean {
  return parseJson(text) !== undefined;
}

function signatureOf(piece: JsonObject): string {
  const extra = piece["extra_content"];
  const google = isObject(extra) ? extra["google"] : undefined;
  return isObject(google) ? asText(google["thought_signature"]) : "";
}
