/**
 * Writes neutral events as chat completion chunks (docs/design/chat-completions.md 6, docs/design/translation.md 9.2).
 *
 * Frames are built from prepared text, because this runs for every token. Sources are sent together before the finish:
 * the official SDKs keep only the last chunk that has some.
 */
import type { GatewayError } from "#proxy/errors";
import { tierMember } from "#proxy/formats/chat-completions/translate/reply/write-message";
import { writeUsage } from "#proxy/formats/chat-completions/translate/reply/write-usage";
import type { ErrorContext } from "#proxy/formats/format";
import { errorObject } from "#proxy/formats/render-error";
import type { ReplyContext, StreamWriter } from "#proxy/formats/translator";
import type { ReplyEvent } from "#proxy/neutral/reply";
import type { TokenUsage } from "#proxy/settle/usage";
import { oneLineJson } from "./one-line-json.ts";
import { ChoiceWriter } from "./write-choice.ts";

export class ChunkWriter implements StreamWriter {
  readonly #context: ReplyContext;
  readonly #choices: ChoiceWriter[] = [];
  /** Up to the choices. */
  #head = "";
  /** Behind the choices. */
  readonly #tail: string;
  #usage: TokenUsage | undefined;

  constructor(context: ReplyContext) {
    this.#context = context;
    this.#tail = context.wantsStreamUsage ? '],"usage":null}\n\n' : "]}\n\n";
  }

  write(event: ReplyEvent): string {
    switch (event.type) {
      case "start":
        this.#begin(event.serviceTier);
        return this.#choice(0).begin();
      case "usage":
        this.#usage = event.usage;
        return "";
      case "end":
        return `${this.#writeUsage()}data: [DONE]\n\n`;
      default:
        return this.#choice(event.candidate).write(event);
    }
  }

  fail(error: GatewayError, context: ErrorContext): string {
    return `data: ${oneLineJson(errorObject(error, "OpenAI", context))}\n\n`;
  }

  #begin(serviceTier: string | undefined): void {
    const chunk = {
      id: this.#context.newId("chatcmpl-"),
      object: "chat.completion.chunk",
      created: this.#context.nowSeconds,
      model: this.#context.conversation.model,
      ...tierMember(serviceTier),
    };
    this.#head = `data: ${oneLineJson(chunk).slice(0, -1)},"choices":[`;
  }

  #choice(index: number): ChoiceWriter {
    for (let next = this.#choices.length; next <= index; next += 1) {
      this.#choices.push(new ChoiceWriter(next, this.#head, this.#tail, this.#context));
    }
    const choice = this.#choices[index];
    if (choice === undefined) throw new TypeError("candidates count from 0");
    return choice;
  }

  /** Its own chunk behind all others, only for those who asked. */
  #writeUsage(): string {
    if (!this.#context.wantsStreamUsage || this.#usage === undefined) return "";
    return `${this.#head}],"usage":${oneLineJson(writeUsage(this.#usage))}}\n\n`;
  }
}
