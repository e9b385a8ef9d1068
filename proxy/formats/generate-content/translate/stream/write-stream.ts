/**
 * Writes frames for a client of streamGenerateContent (docs/design/generate-content.md 5,
 * docs/design/translation.md 9.2): server-sent events for `alt=sse`, else the elements of one JSON array.
 *
 * Every frame has a part: the official SDK's chat forgets the whole turn when one has none. Calls wait for their last
 * argument, and finish reasons, sources and usage go into one last frame.
 */
import type { GatewayError } from "#proxy/errors";
import type { ErrorContext } from "#proxy/formats/format";
import { writeHostedParts, writeMediaPart } from "#proxy/formats/generate-content/translate/reply/write-parts";
import { writeUsage } from "#proxy/formats/generate-content/translate/reply/write-usage";
import { errorObject } from "#proxy/formats/render-error";
import type { ReplyContext, StreamWriter } from "#proxy/formats/translator";
import type { JsonObject } from "#proxy/json/json-value";
import type { Finish, OpenedBlock, ReplyEvent } from "#proxy/neutral/reply";
import type { TokenUsage } from "#proxy/settle/usage";
import { CandidateWriter } from "./write-candidate.ts";

export class GenerateContentStreamWriter implements StreamWriter {
  readonly #context: ReplyContext;
  readonly #isArray: boolean;
  readonly #candidates: CandidateWriter[] = [];
  /** What stands behind the candidates in every frame. */
  #tail = "";
  #usage: TokenUsage | undefined;
  #elements = 0;
  #hasOutput = false;

  constructor(context: ReplyContext) {
    this.#context = context;
    this.#isArray = context.endpoint.geminiStream === "array";
  }

  write(event: ReplyEvent): string {
    switch (event.type) {
      case "start":
        this.#tail = `,"modelVersion":${JSON.stringify(this.#context.conversation.model)},"responseId":${JSON.stringify(this.#context.opening?.idWith("") ?? this.#context.newId(""))}}`;
        return "";
      case "open":
        return this.#writeOpen(event.candidate, event.part, event.block);
      case "delta":
        return this.#writeParts(event.candidate, this.#candidate(event.candidate).delta(event.part, event.text));
      case "close":
        return this.#writeParts(event.candidate, this.#candidate(event.candidate).close(event.part));
      case "citation":
        this.#candidate(event.candidate).cite(event.part, event.citation);
        return "";
      case "logprobs":
        this.#candidate(event.candidate).addLogprobs(event.tokens);
        return "";
      case "state":
        this.#candidate(event.candidate).addState(event.part, event.state);
        return "";
      case "usage":
        this.#usage = event.usage;
        return "";
      case "finish":
        this.#candidate(event.candidate).finish = event.finish;
        return "";
      case "end":
        return this.#writeEnd();
      default:
        return event satisfies never;
    }
  }

  fail(error: GatewayError, context: ErrorContext): string {
    const frame = this.#frame(JSON.stringify(errorObject(error, "Gemini", context)));
    return this.#isArray ? `${frame}]` : frame;
  }

  #writeOpen(candidate: number, part: number, block: OpenedBlock): string {
    switch (block.kind) {
      case "media":
        return this.#writeParts(candidate, writeMediaPart(block).map(toJson));
      case "hosted":
        this.#candidate(candidate).addQueries(block.queries ?? []);
        return this.#writeParts(candidate, writeHostedParts(block).map(toJson));
      default:
        this.#candidate(candidate).open(part, block);
        return "";
    }
  }

  #candidate(index: number): CandidateWriter {
    while (this.#candidates.length <= index) this.#candidates.push(new CandidateWriter(this.#context));
    const candidate = this.#candidates[index];
    if (candidate === undefined) throw new RangeError("candidates count from 0");
    return candidate;
  }

  /** @param parts JSON texts */
  #writeParts(candidate: number, parts: readonly string[]): string {
    if (parts.length === 0) return "";
    this.#hasOutput = true;
    return this.#frame(
      `{"candidates":[{"content":{"role":"model","parts":[${parts.join(",")}]},"index":${candidate}}]${this.#tail}`,
    );
  }

  #writeEnd(): string {
    const usage = this.#usage === undefined ? "" : `"usageMetadata":${JSON.stringify(writeUsage(this.#usage))}`;
    const { finish } = this.#candidate(0);
    const isBlocked = finish.isPromptBlocked === true && !this.#hasOutput && this.#candidates.length === 1;
    const said = isBlocked
      ? `"promptFeedback":${JSON.stringify(feedbackOf(finish))}`
      : `"candidates":[${this.#candidates.map((candidate, index) => JSON.stringify(candidate.last(index))).join(",")}]`;
    const frame = this.#frame(`{${said}${usage === "" ? "" : `,${usage}`}${this.#tail}`);
    return this.#isArray ? `${frame}]` : frame;
  }

  /** @param json one whole object */
  #frame(json: string): string {
    if (!this.#isArray) return `data: ${json}\r\n\r\n`;
    this.#elements += 1;
    return `${this.#elements === 1 ? "[" : ",\r\n"}${json}`;
  }
}

function toJson(part: JsonObject): string {
  return JSON.stringify(part);
}

function feedbackOf({ explanation }: Finish): JsonObject {
  return { blockReason: "SAFETY", ...(explanation === undefined ? {} : { blockReasonMessage: explanation }) };
}
