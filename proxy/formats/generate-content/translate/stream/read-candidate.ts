/**
 * Reads the parts of one candidate, frame by frame, as neutral events (docs/design/translation.md 9.1).
 *
 * One part is open at a time. A text that carries a signature is full: later text opens the next part, because a signed
 * part must never be joined to another one. The events that end a candidate wait for the end of the stream, because
 * finish reasons, sources and usage come in any order.
 */

import { readFinish, replaces } from "#proxy/formats/generate-content/translate/reply/finish-reasons";
import { readLogprobs } from "#proxy/formats/generate-content/translate/reply/logprobs";
import { CitationCollector } from "#proxy/formats/generate-content/translate/reply/read-citations";
import { asList, asText, isObject, type JsonObject, member, memberAt } from "#proxy/json/json-value";
import type { ProviderState } from "#proxy/neutral/conversation";
import { type Finish, InvalidReply, type OpenedBlock, type ReplyEvent, type TokenLogprob } from "#proxy/neutral/reply";
import { PartialArguments } from "./partial-arguments.ts";
import { ServerTools, serverToolPart } from "./server-tools.ts";

interface OpenPart {
  readonly part: number;
  readonly kind: "text" | "reasoning";
  /** Signed: nothing may be added any more. */
  isFull: boolean;
}

/** Where a text stands in the candidate's visible text, in UTF-16 units. */
interface ReadText {
  readonly part: number;
  readonly start: number;
}

interface PartialCall {
  readonly part: number;
  readonly args: PartialArguments;
}

/** Generated code whose output has not come yet. */
interface PendingCode {
  readonly part: JsonObject;
}

export class CandidateReader {
  readonly #candidate: number;
  readonly #events: ReplyEvent[];
  readonly #citations = new CitationCollector();
  readonly #serverTools = new ServerTools();
  #parts = 0;
  /** Sources and tokens may come behind the end of the text that they are of. */
  readonly #texts: ReadText[] = [];
  #textLength = 0;
  /** Tokens that came before any text. */
  #waitingTokens: readonly TokenLogprob[] = [];
  #open: OpenPart | undefined;
  #call: PartialCall | undefined;
  #code: PendingCode | undefined;
  #hasCalls = false;
  #finishReason: string | undefined;
  #finishMessage: unknown;

  /** @param events where events are put */
  constructor(candidate: number, events: ReplyEvent[]) {
    this.#candidate = candidate;
    this.#events = events;
  }

  /** @throws InvalidReply for parts that cannot be */
  read(candidate: JsonObject): void {
    const parts = asList(member(candidate["content"], "parts")).filter(isObject);
    this.#citations.read(candidate);
    // A search stands before the text that came of it, where it is known by then; parts tell of their own.
    const isEarly = this.#parts === 0 && !parts.some(({ toolCall }) => isObject(toolCall));
    if (isEarly) this.#emitSearch();
    for (const part of parts) this.#readPart(part);
    this.#readTokens(readLogprobs(candidate["logprobsResult"]));
    const reason = candidate["finishReason"];
    if (typeof reason === "string" && reason !== "FINISH_REASON_UNSPECIFIED" && replaces(this.#finishReason, reason)) {
      this.#finishReason = reason;
      this.#finishMessage = candidate["finishMessage"];
    }
  }

  get hasFinish(): boolean {
    return this.#finishReason !== undefined;
  }

  /**
   * Closes what is open and tells why the candidate ended.
   * @param otherwise for a candidate that never said why
   * @throws InvalidReply where it claims to be whole and its last call is not
   */
  end(otherwise: Finish): void {
    const hasHalfCall = this.#call !== undefined;
    this.#endCall(true);
    this.#endCode(undefined);
    this.#cite();
    this.#close();
    if (!hasHalfCall) this.#emitServerTools();
    if (!hasHalfCall) this.#emitSearch();
    const reason = this.#finishReason ?? (otherwise.reason === "stop" ? "STOP" : undefined);
    const finish = reason === undefined ? otherwise : readFinish(reason, this.#hasCalls, this.#finishMessage);
    if (hasHalfCall && (finish.reason === "stop" || finish.reason === "tool-calls")) {
      throw new InvalidReply("a tool call was never completed");
    }
    this.#events.push({ type: "finish", candidate: this.#candidate, finish });
  }

  #readTokens(tokens: readonly TokenLogprob[]): void {
    if (tokens.length === 0) return;
    const text = this.#texts.at(-1);
    if (text === undefined) this.#waitingTokens = [...this.#waitingTokens, ...tokens];
    else this.#events.push({ type: "logprobs", candidate: this.#candidate, part: text.part, tokens });
  }

  /** Sources without a text are of nothing. */
  #cite(): void {
    for (const citation of this.#citations.citations()) {
      const { start, end, ...source } = citation;
      const text = start === undefined ? this.#texts.at(-1) : this.#texts.findLast((it) => it.start <= start);
      if (text === undefined) continue;
      const placed =
        start === undefined || end === undefined
          ? source
          : { ...source, start: start - text.start, end: Math.min(end, this.#endOf(text)) - text.start };
      this.#events.push({ type: "citation", candidate: this.#candidate, part: text.part, citation: placed });
    }
  }

  #endOf(text: ReadText): number {
    return this.#texts[this.#texts.indexOf(text) + 1]?.start ?? this.#textLength;
  }

  /** Members that a newer version may send are no content of this reply: they are passed over. */
  #readPart(part: JsonObject): void {
    const { functionCall, executableCode, codeExecutionResult, text, thoughtSignature } = part;
    const signature = typeof thoughtSignature === "string" && thoughtSignature !== "" ? thoughtSignature : undefined;
    const block = readMedia(part);
    if (isObject(functionCall)) this.#readCall(functionCall, signature);
    else if (typeof text === "string") this.#readText(part["thought"] === true ? "reasoning" : "text", text, signature);
    else if (isObject(executableCode)) this.#readCode(part);
    else if (isObject(codeExecutionResult)) this.#endCode(part);
    else if (isObject(part["toolCall"]) || isObject(part["toolResponse"])) this.#readServerTool(part);
    else if (block !== undefined) this.#addWhole(block);
    else if (signature !== undefined) this.#readText("text", "", signature);
  }

  #readText(kind: OpenPart["kind"], text: string, signature: string | undefined): void {
    if (text === "" && signature === undefined) return;
    // A signature behind a text often comes on an empty part of its own: it belongs to that text.
    const open = text === "" && this.#open?.kind === kind ? this.#open : this.#ensure(kind);
    if (text !== "") {
      if (kind === "text" && this.#texts.at(-1)?.part !== open.part) this.#beginText(open.part);
      this.#events.push({ type: "delta", candidate: this.#candidate, part: open.part, text });
      if (kind === "text") {
        this.#citations.addText(text);
        this.#textLength += text.length;
      }
    }
    if (signature !== undefined) this.#sign(open, signature);
  }

  #sign(open: OpenPart, data: string): void {
    open.isFull = true;
    this.#addState(open.part, data);
  }

  #addState(part: number, data: string): void {
    this.#events.push({ type: "state", candidate: this.#candidate, part, state: { kind: "thought-signature", data } });
  }

  #readCall(call: JsonObject, signature: string | undefined): void {
    const { name } = call;
    if (typeof name === "string" && name !== "") {
      this.#startCall(name, call, signature);
    } else if (this.#call === undefined) {
      // Vertex ends each streamed call with an empty one, also where nothing was streamed.
      if (Object.keys(call).length > 0) throw new InvalidReply("a call has no name");
      return;
    } else if (signature !== undefined) this.#addState(this.#call.part, signature);
    this.#call?.args.apply(call["partialArgs"]);
    if (call["willContinue"] !== true) this.#endCall();
  }

  #startCall(name: string, call: JsonObject, signature: string | undefined): void {
    const { id, args } = call;
    if (args !== undefined && args !== null && !isObject(args))
      throw new InvalidReply("a call's arguments are not an object");
    const block = {
      kind: "call",
      id: typeof id === "string" && id !== "" ? id : undefined,
      name,
      tool: "function",
    } as const;
    const part = this.#openPart(block);
    this.#hasCalls = true;
    if (signature !== undefined) this.#addState(part, signature);
    this.#call = { part, args: new PartialArguments(args) };
  }

  /** @param isHalf more of it was to come: nobody must take its arguments for all, so they are no JSON */
  #endCall(isHalf = false): void {
    if (this.#call === undefined) return;
    const { part, args } = this.#call;
    this.#call = undefined;
    const text = isHalf ? args.toJson().slice(0, -1) : args.toJson();
    this.#events.push({ type: "delta", candidate: this.#candidate, part, text });
    this.#events.push({ type: "close", candidate: this.#candidate, part });
  }

  #readCode(part: JsonObject): void {
    this.#refuseHalfCall();
    this.#endCode(undefined);
    this.#code = { part };
  }

  /** Code and its output are one thing that a tool did. @param result part that holds it */
  #endCode(result: JsonObject | undefined): void {
    const pending = this.#code?.part;
    if (pending === undefined && result === undefined) return;
    this.#code = undefined;
    const output = memberAt(result, "codeExecutionResult", "output");
    const states = [pending, result].flatMap((part) => (part === undefined ? [] : statesOfCode(part)));
    this.#addWhole({
      kind: "hosted",
      tool: "code",
      type: pending === undefined ? "codeExecutionResult" : "executableCode",
      ...(pending === undefined ? {} : { code: asText(memberAt(pending, "executableCode", "code")) }),
      ...(typeof output === "string" ? { output } : {}),
      ...(states.length === 0 ? {} : { states }),
    });
  }

  #readServerTool(part: JsonObject): void {
    this.#refuseHalfCall();
    this.#endCode(undefined);
    this.#close();
    this.#serverTools.add(part);
  }

  #emitServerTools(): void {
    for (const block of this.#serverTools.takeRun()) this.#addWhole(block);
  }

  #emitSearch(): void {
    const block = this.#serverTools.search(this.#citations.queries, this.#citations.sources);
    if (block !== undefined) this.#addWhole(block);
  }

  #addWhole(block: OpenedBlock): void {
    const part = this.#openPart(block);
    this.#events.push({ type: "close", candidate: this.#candidate, part });
  }

  #ensure(kind: OpenPart["kind"]): OpenPart {
    if (this.#open?.kind === kind && !this.#open.isFull) return this.#open;
    const part = this.#openPart({ kind });
    this.#open = { part, kind, isFull: false };
    return this.#open;
  }

  /** A part that only carries a signature is none. */
  #beginText(part: number): void {
    this.#texts.push({ part, start: this.#textLength });
    const tokens = this.#waitingTokens;
    this.#waitingTokens = [];
    this.#readTokens(tokens);
  }

  /**
   * A streamed call says itself where it ends (docs/design/generate-content.md 5.1): what follows a half one does not
   * make it whole.
   */
  #refuseHalfCall(): void {
    if (this.#call !== undefined) throw new InvalidReply("a tool call was never completed");
  }

  #openPart(block: OpenedBlock): number {
    this.#refuseHalfCall();
    this.#endCode(undefined);
    this.#close();
    this.#emitServerTools();
    const part = this.#parts;
    this.#parts += 1;
    this.#events.push({ type: "open", candidate: this.#candidate, part, block });
    return part;
  }

  #close(): void {
    if (this.#open === undefined) return;
    this.#events.push({ type: "close", candidate: this.#candidate, part: this.#open.part });
    this.#open = undefined;
  }
}

function readMedia(part: JsonObject): OpenedBlock | undefined {
  const { inlineData, fileData } = part;
  if (isObject(inlineData)) {
    const { mimeType, data } = inlineData;
    if (typeof data !== "string") throw new InvalidReply("a file has no data");
    return { kind: "media", mime: typeof mimeType === "string" ? mimeType : "application/octet-stream", base64: data };
  }
  if (!isObject(fileData)) return undefined;
  const { mimeType, fileUri } = fileData;
  if (typeof fileUri !== "string") throw new InvalidReply("a file has no address");
  return { kind: "media", mime: typeof mimeType === "string" ? mimeType : "application/octet-stream", url: fileUri };
}

/** Models that mix tools name and sign such parts, and want them back; those of others are for show. */
function statesOfCode(part: JsonObject): readonly ProviderState[] {
  const isNamed = ["executableCode", "codeExecutionResult"].some((name) => asText(memberAt(part, name, "id")) !== "");
  return isNamed || asText(part["thoughtSignature"]) !== "" ? [serverToolPart(part)] : [];
}
