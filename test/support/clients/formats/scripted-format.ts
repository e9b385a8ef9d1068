/** What a wire format gives to the scripted upstream: reading of its requests, writing of turns. */
import type { JsonObject } from "#examples/demo-upstream/json-view";
import type { Failure, Question, Turn } from "#test/support/clients/scenario";

export interface TurnContext {
  readonly turn: Turn;
  readonly question: Question;
  readonly body: JsonObject;
  /** Number of this reply, unique in the upstream: base of ids. */
  readonly serial: number;
}

export interface ScriptedFormat {
  /** @param path with its query */
  read(body: JsonObject, path: string): Question;
  /** Events of a stream, each with its blank line. */
  writeStream(context: TurnContext): readonly string[];
  writeReply(context: TurnContext): object;
  /** Body of an error reply. */
  writeError(status: number, message: string): object;
}

/** Words of a provider for a failure in the middle of a stream. */
export const failureMessages: Readonly<Record<Failure, string>> = {
  overloaded: "Our servers are currently overloaded. Please try again later.",
  quota: "You exceeded your current quota, please check your plan and billing details.",
  contextOverflow: "Your input exceeds the context window of this model. Please adjust your input and try again.",
};

/** Text in the pieces in which a provider would stream it. */
export function piecesOf(text: string): string[] {
  return text.match(/\s*[^\s]+|\s+$/gu) ?? [];
}

/** One event that has a name. */
export function namedEvent(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}
