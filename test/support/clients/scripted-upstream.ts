/**
 * An upstream of one wire format that refuses what the real provider refuses and else answers by a scenario. It holds
 * what it refused: a test of the gateway expects nothing there.
 */
import { isObject, type JsonObject } from "#examples/demo-upstream/json-view";
import { FakeUpstream, type ReceivedRequest, type ScriptedReply } from "#test/support/fake-upstream";
import { chatCompletions } from "./formats/chat-completions.ts";
import { generateContent } from "./formats/generate-content.ts";
import { messages } from "./formats/messages.ts";
import { responses } from "./formats/responses.ts";
import type { ScriptedFormat } from "./formats/scripted-format.ts";
import { chatCompletionsRules } from "./rules/chat-completions.ts";
import { generateContentRules } from "./rules/generate-content.ts";
import { messagesRules } from "./rules/messages.ts";
import { responsesRules } from "./rules/responses.ts";
import { type Rule, refusalOf } from "./rules/rule.ts";
import type { Question, Scenario } from "./scenario.ts";

export type FormatName = "ChatCompletions" | "Responses" | "Messages" | "GenerateContent";

const formats: Readonly<Record<FormatName, { readonly format: ScriptedFormat; readonly rules: readonly Rule[] }>> = {
  ChatCompletions: { format: chatCompletions, rules: chatCompletionsRules },
  Responses: { format: responses, rules: responsesRules },
  Messages: { format: messages, rules: messagesRules },
  GenerateContent: { format: generateContent, rules: generateContentRules },
};

const paths: Readonly<Record<FormatName, RegExp>> = {
  ChatCompletions: /\/chat\/completions$/,
  Responses: /\/responses$/,
  Messages: /\/messages(?:\?.*)?$/,
  GenerateContent: /\/models\/[^/]+:(?:generateContent|streamGenerateContent)(?:\?.*)?$/,
};

export class ScriptedUpstream {
  /** What was refused since the last scenario, in the provider's words. */
  readonly refusals: string[] = [];
  /** What was asked since then and not refused. */
  readonly questions: Question[] = [];
  readonly #upstream: FakeUpstream;
  readonly #format: ScriptedFormat;
  readonly #rules: readonly Rule[];
  readonly #path: RegExp;
  #scenario: Scenario = () => ({ text: "A short answer." });
  #serial = 0;

  private constructor(upstream: FakeUpstream, name: FormatName) {
    this.#upstream = upstream;
    this.#format = formats[name].format;
    this.#rules = formats[name].rules;
    this.#path = paths[name];
  }

  static async start(name: FormatName): Promise<ScriptedUpstream> {
    const upstream = await FakeUpstream.start();
    const scripted = new ScriptedUpstream(upstream, name);
    upstream.replyWith((request) => scripted.#reply(request));
    return scripted;
  }

  get origin(): string {
    return this.#upstream.origin;
  }

  /** All requests since the last scenario, those of other paths among them. */
  get requests(): readonly ReceivedRequest[] {
    return this.#upstream.requests;
  }

  /** What the next requests get; forgets those before. */
  play(scenario: Scenario): void {
    this.#scenario = scenario;
    this.#upstream.forget();
    this.refusals.length = 0;
    this.questions.length = 0;
  }

  close(): Promise<void> {
    return this.#upstream.close();
  }

  #reply(request: ReceivedRequest): ScriptedReply {
    const format = this.#format;
    if (request.method !== "POST" || !this.#path.test(request.target)) {
      return json(404, format.writeError(404, `Unknown request URL: ${request.method} ${request.target}.`));
    }
    const body = bodyOf(request);
    const question = format.read(body, request.target);
    const refusal = refusalOf(this.#rules, body, question.model);
    if (refusal !== undefined) {
      this.refusals.push(refusal);
      return json(400, format.writeError(400, refusal));
    }
    this.questions.push(question);
    this.#serial += 1;
    const turn = this.#scenario(question);
    const context = { turn, question, body, serial: this.#serial };
    if (turn.status !== undefined) return json(turn.status, format.writeError(turn.status, "The script says no."));
    return question.isStream
      ? stream(format.writeStream(context), turn.isCut === true)
      : json(200, format.writeReply(context));
  }
}

function bodyOf(request: ReceivedRequest): JsonObject {
  const body = request.json();
  return isObject(body) ? body : {};
}

function json(status: number, body: object): ScriptedReply {
  return { status, body: JSON.stringify(body) };
}

/** Each event in a packet of its own, so that readers meet the ends of events as they would. */
function stream(events: readonly string[], isCut: boolean): ScriptedReply {
  const body = Buffer.from(events.join(""));
  let end = 0;
  const fragmentAt = events.map((event) => (end += Buffer.byteLength(event)));
  return {
    headers: { "content-type": "text/event-stream" },
    body,
    framing: "chunked",
    fragmentAt,
    ...(isCut ? { cutAt: body.length } : {}),
  };
}
