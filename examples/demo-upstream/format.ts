/** What a wire format of the demo upstream gives: reading of its requests, writing of its replies. */
import type { DemoAnswer, DemoQuestion } from "./conversation.ts";
import type { JsonObject } from "./json-view.ts";

/** Everything a writer may need besides the answer. */
export interface ReplyContext {
  readonly question: DemoQuestion;
  readonly answer: DemoAnswer;
  /** The request's body: some formats echo parts of it. */
  readonly body: JsonObject;
  /** Number of this reply, unique in the server: base of ids. */
  readonly serial: number;
  /** Seconds since the epoch. */
  readonly createdAt: number;
}

/** The request breaks the format; sent as 400 in the format's own error shape. */
export class BadRequest extends Error {
  readonly param: string;

  constructor(param: string, message: string) {
    super(message);
    this.param = param;
  }
}

export interface DemoFormat {
  /** @throws BadRequest */
  readQuestion(body: JsonObject, modelInPath: string | undefined): DemoQuestion;
  writeReply(context: ReplyContext): unknown;
  /** The events of a stream, each complete with its blank line; the server writes them at a human pace. */
  writeStream(context: ReplyContext): readonly string[];
  writeError(status: number, message: string, param: string | undefined): unknown;
  /** An error event for a stream that fails half-way. */
  writeStreamError(message: string): string;
}
