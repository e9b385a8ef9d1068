/**
 * Writes neutral events as a responses stream (docs/design/responses.md 6, docs/design/translation.md 9.2).
 *
 * It promises the client: numbers without a gap, dense output indexes, the same ids from the first event of an item to
 * the final response, which holds every finished item, and exactly one terminal event. Several items may be open at
 * once. The same code writes a whole response (`write-reply.ts`), so that both always agree.
 */
import type { GatewayError } from "#proxy/errors";
import type { ErrorContext } from "#proxy/formats/format";
import { type ResponseEnd, writeFinish } from "#proxy/formats/responses/translate/reply/finish";
import { clientNames } from "#proxy/formats/responses/translate/reply/namespaces";
import { responseObject } from "#proxy/formats/responses/translate/reply/response-object";
import { writeUsage } from "#proxy/formats/responses/translate/reply/write-usage";
import type { ReplyContext, StreamWriter } from "#proxy/formats/translator";
import type { JsonObject } from "#proxy/json/json-value";
import type { ProviderState } from "#proxy/neutral/conversation";
import { UniqueIds } from "#proxy/neutral/ids/unique-ids";
import { omittedText } from "#proxy/neutral/media/omitted-media";
import type { Finish, HostedBlock, MediaBlock, OpenedBlock, ReplyEvent } from "#proxy/neutral/reply";
import type { TokenUsage } from "#proxy/settle/usage";
import { failureOf } from "./failure.ts";
import { Frames } from "./frames.ts";
import { CallWriter } from "./write-call.ts";
import { isImage, writeCode, writeImage, writeSearch } from "./write-hosted.ts";
import { MessageItemWriter, type TextSpan } from "./write-message.ts";
import { ReasoningWriter } from "./write-reasoning.ts";

/** What takes the pieces of one neutral part. */
type PartWriter =
  | { readonly kind: "text" | "refusal"; readonly message: MessageItemWriter }
  | { readonly kind: "reasoning"; readonly reasoning: ReasoningWriter }
  | { readonly kind: "call"; readonly call: CallWriter };

const completed: ResponseEnd = { status: "completed", reason: undefined };

export class ResponsesStreamWriter implements StreamWriter {
  readonly holdsWholeReply = true;
  readonly #frames = new Frames();
  readonly #context: ReplyContext;
  readonly #showsReasoning: boolean;
  readonly #wantsLogprobs: boolean;
  readonly #id: string;
  readonly #callIds = new UniqueIds();
  readonly #parts = new Map<number, PartWriter>();
  /** Takes the next text; no other item was begun since. */
  #message: MessageItemWriter | undefined;
  /** Of an upstream that tells sources late: texts that ended, and their messages, which are done at the end. */
  readonly #endedTexts = new Map<number, { readonly message: MessageItemWriter; readonly block: TextSpan }>();
  #endedMessages: MessageItemWriter[] = [];
  /** Closed calls that are not done yet: only the finish tells whether the last one was cut. */
  #closing: CallWriter[] = [];
  /** Code whose output may come as a block of its own. */
  #code: HostedBlock | undefined;
  /** Thinking as plain text, which clients may leave out of what they send back: kept under the next call as well. */
  readonly #plainStates: ProviderState[] = [];
  #clientName: ReturnType<typeof clientNames> | undefined;
  #serviceTier: string | undefined;
  #usage: TokenUsage | undefined;
  #end: ResponseEnd = completed;
  #hasStarted = false;
  /** The final response, once it was written. */
  response: JsonObject | undefined;

  constructor(context: ReplyContext) {
    const { conversation, newId, opening } = context;
    this.#context = context;
    this.#showsReasoning = conversation.reasoning?.show !== false;
    this.#wantsLogprobs = conversation.sampling.logprobs === true;
    this.#id = opening?.idWith("resp_") ?? newId("resp_");
  }

  write(event: ReplyEvent): string {
    // The format has one candidate.
    if ("candidate" in event && event.candidate !== 0) return "";
    this.#writeEvent(event);
    return this.#frames.consume();
  }

  signOfLife(): string {
    if (this.#hasStarted && this.#frames.hasItems) this.#frames.emit("keepalive");
    else if (this.#hasStarted) this.#inProgress();
    return this.#frames.consume();
  }

  fail(error: GatewayError, context: ErrorContext): string {
    this.#start();
    for (const [part, writer] of this.#parts) this.#cut(part, writer);
    for (const call of this.#closing) call.done(true);
    this.#closing = [];
    this.#finishMessages();
    this.#message?.done("incomplete");
    this.#message = undefined;
    const failure = failureOf(error, context);
    const { type, code, message, param } = failure.details;
    this.#frames.emit(
      "error",
      JSON.stringify({ code, message, param, error: { type, code, message, param } }).slice(1, -1),
    );
    this.#terminal("failed", { error: failure.responseError });
    return this.#frames.consume();
  }

  #writeEvent(event: ReplyEvent): void {
    switch (event.type) {
      case "start":
        this.#serviceTier = event.serviceTier;
        this.#start();
        return;
      case "usage":
        this.#usage = event.usage;
        return;
      case "finish":
        this.#finish(event.finish);
        return;
      case "end":
        this.#terminal(this.#end.status, { incompleteReason: this.#end.reason });
        return;
      case "open":
        this.#open(event.part, event.block);
        return;
      default:
        this.#piece(event);
    }
  }

  /** Signs of life before the reply may have begun the response. */
  #start(): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    const { opening } = this.#context;
    this.#frames.countFrom(opening?.sequence ?? 0);
    if (opening?.isNumbered !== true) this.#frames.emit("response.created", this.#asBegun());
    this.#inProgress();
  }

  #inProgress(): void {
    this.#frames.emit("response.in_progress", this.#asBegun());
  }

  #asBegun(): string {
    const state = { id: this.#id, output: [], usage: null, serviceTier: this.#serviceTier };
    return `"response":${JSON.stringify(responseObject({ ...state, status: "in_progress" }, this.#context))}`;
  }

  #open(part: number, block: OpenedBlock): void {
    if (block.kind === "hosted" && block.tool === "code") {
      this.#openCode(block);
      return;
    }
    this.#flushCode();
    switch (block.kind) {
      case "text":
      case "refusal":
        this.#openText(part, block.kind);
        return;
      case "reasoning":
        this.#beginOther();
        this.#parts.set(part, { kind: "reasoning", reasoning: new ReasoningWriter(this.#frames, this.#context.newId) });
        return;
      case "call":
        this.#beginOther();
        this.#parts.set(part, { kind: "call", call: this.#newCall(block) });
        return;
      case "media":
        this.#openMedia(part, block);
        return;
      default:
        this.#openHosted(block);
    }
  }

  #openHosted(block: HostedBlock): void {
    this.#carryHosted(block);
    if (block.tool !== "web-search") return;
    this.#beginOther();
    writeSearch(this.#frames, block, this.#context.newId);
  }

  /** What the provider wants back of its tools travels in a reasoning item in front of them, as that of calls does. */
  #carryHosted({ states = [] }: HostedBlock): void {
    if (states.length === 0) return;
    this.#beginOther();
    const reasoning = new ReasoningWriter(this.#frames, this.#context.newId);
    for (const state of states) reasoning.carry(state);
    reasoning.done((carried) => this.#context.states.seal(carried));
  }

  #openMedia(part: number, block: MediaBlock): void {
    if (isImage(block)) {
      this.#beginOther();
      writeImage(this.#frames, block, this.#context.newId);
    } else this.#openText(part, "text").append("text", omittedText(block));
  }

  /** Text goes on in the same message, unless another block of it is still open: their pieces must not mix. */
  #openText(part: number, kind: "text" | "refusal"): MessageItemWriter {
    if (this.#message !== undefined && this.#message.openBlocks > 0) this.#message = undefined;
    this.#beginCalls();
    this.#finishCalls(completed);
    this.#message ??= new MessageItemWriter(this.#frames, this.#context.newId);
    this.#message.openBlocks += 1;
    this.#message.beginBlock(kind);
    this.#parts.set(part, { kind, message: this.#message });
    return this.#message;
  }

  /** An item of another kind begins: what came before it is done. */
  #beginOther(): void {
    this.#beginCalls();
    this.#finishCalls(completed);
    if (this.#message?.openBlocks === 0) this.#endMessage(this.#message);
    this.#message = undefined;
  }

  #endMessage(message: MessageItemWriter): void {
    if (this.#context.citesLate === true) this.#endedMessages.push(message);
    else message.done("completed");
  }

  #finishMessages(): void {
    for (const message of this.#endedMessages) message.done("completed");
    this.#endedMessages = [];
  }

  /** Items stand in the order in which their parts were opened: a call that waits for its first piece waits no longer. */
  #beginCalls(): void {
    for (const part of this.#parts.values()) if (part.kind === "call") part.call.begin();
  }

  #newCall(block: Extract<OpenedBlock, { kind: "call" }>): CallWriter {
    const { newId, states, clientBody } = this.#context;
    this.#clientName ??= clientNames(clientBody);
    const { name, namespace, run } = this.#clientName(block.name);
    const id = newId(run?.idPrefix ?? (block.tool === "custom" ? "ctc_" : "fc_"));
    const callId = this.#callIds.assign(block.id ?? newId("call_"));
    const call = new CallWriter(this.#frames, { id, callId, name, namespace, tool: block.tool, run }, states, newId);
    call.keep(this.#plainStates.splice(0));
    return call;
  }

  #openCode(block: HostedBlock): void {
    const waiting = this.#code;
    if (waiting !== undefined && (block.code ?? "") === "") {
      this.#code = undefined;
      const states = [...(waiting.states ?? []), ...(block.states ?? [])];
      this.#writeCode({ ...waiting, output: block.output, states });
      return;
    }
    this.#flushCode();
    if (block.output === undefined) this.#code = block;
    else this.#writeCode(block);
  }

  #flushCode(): void {
    const waiting = this.#code;
    this.#code = undefined;
    if (waiting !== undefined) this.#writeCode(waiting);
  }

  #writeCode(block: HostedBlock): void {
    this.#carryHosted(block);
    this.#beginOther();
    writeCode(this.#frames, block, this.#context.newId);
  }

  #piece(event: Extract<ReplyEvent, { type: "delta" | "citation" | "logprobs" | "state" | "close" }>): void {
    const writer = this.#parts.get(event.part);
    if (writer === undefined) {
      this.#latePiece(event);
      return;
    }
    switch (event.type) {
      case "delta":
        if (writer.kind === "call") writer.call.append(event.text);
        else if (writer.kind !== "reasoning") writer.message.append(writer.kind, event.text);
        else if (this.#showsReasoning) writer.reasoning.append(event.text);
        return;
      case "citation":
        if (writer.kind === "text") writer.message.cite(event.citation);
        return;
      case "logprobs":
        if (writer.kind === "text" && this.#wantsLogprobs) writer.message.addLogprobs(event.tokens);
        return;
      case "state":
        // State of a text would have to stand before it; the provider does without (docs/design/translation.md 6.2).
        if (writer.kind === "reasoning") this.#carry(writer.reasoning, event.state);
        else if (writer.kind === "call") writer.call.carry(event.state);
        return;
      default:
        this.#close(event.part, writer);
    }
  }

  #carry(reasoning: ReasoningWriter, state: ProviderState): void {
    reasoning.carry(state);
    if (state.kind === "reasoning-text") this.#plainStates.push(state);
  }

  #latePiece(event: Extract<ReplyEvent, { readonly part: number }>): void {
    const ended = this.#endedTexts.get(event.part);
    if (event.type === "citation") ended?.message.addLate(ended.block, { citation: event.citation });
    if (event.type === "logprobs" && this.#wantsLogprobs) ended?.message.addLate(ended.block, { tokens: event.tokens });
  }

  #close(part: number, writer: PartWriter): void {
    this.#parts.delete(part);
    if (writer.kind === "call") {
      writer.call.begin();
      this.#closing.push(writer.call);
    } else if (writer.kind === "reasoning") {
      writer.reasoning.done((carried) => this.#context.states.seal(carried));
    } else {
      const { message } = writer;
      message.openBlocks -= 1;
      const block = message.endBlock();
      if (this.#context.citesLate === true && writer.kind === "text") this.#endedTexts.set(part, { message, block });
      if (message !== this.#message && message.openBlocks === 0) this.#endMessage(message);
    }
  }

  /** The stream failed while the part was open. */
  #cut(part: number, writer: PartWriter): void {
    this.#parts.delete(part);
    if (writer.kind === "call") writer.call.done(true);
    else if (writer.kind === "reasoning") writer.reasoning.done((carried) => this.#context.states.seal(carried), true);
    else if (writer.message !== this.#message) writer.message.done("incomplete");
  }

  #finish(finish: Finish): void {
    this.#flushCode();
    this.#end = writeFinish(finish);
    this.#finishCalls(this.#end);
    this.#finishMessages();
    this.#message?.done(this.#end.status);
    this.#message = undefined;
  }

  #finishCalls({ status }: ResponseEnd): void {
    for (const call of this.#closing) call.done(status === "incomplete");
    this.#closing = [];
  }

  #terminal(
    status: "completed" | "incomplete" | "failed",
    details: { readonly incompleteReason?: string | undefined; readonly error?: JsonObject },
  ): void {
    const usage = status === "failed" && this.#usage === undefined ? null : writeUsage(this.#usage);
    this.response = responseObject(
      { id: this.#id, status, ...details, output: this.#frames.output, usage, serviceTier: this.#serviceTier },
      this.#context,
    );
    if (status !== "failed") this.#context.onResponse?.(this.response);
    this.#frames.emit(`response.${status}`, `"response":${JSON.stringify(this.response)}`);
  }
}
