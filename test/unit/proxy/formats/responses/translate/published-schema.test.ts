import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import { responsesClientTranslator } from "#proxy/formats/responses/translate/client-translator";
import { responsesUpstreamTranslator } from "#proxy/formats/responses/translate/upstream-translator";
import type { JsonObject } from "#proxy/json/json-value";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { replayReply } from "#proxy/neutral/replay-reply";
import type { ReplyEvent } from "#proxy/neutral/reply";
import { explainAbsence, readRecorded } from "#test/support/digest/recorded";
import { type PublishedDocument, publishedDocuments } from "#test/support/translation/published-schemas";
import {
  framesOf,
  readStream,
  replyContext,
  writeStream,
  writeWhole,
} from "#test/support/translation/responses-exchange";

/**
 * Where the two documents cannot both be kept, or do not know what the format has. Everything else is kept without any
 * relaxation.
 */
const exceptions: readonly { readonly document: string; readonly problem: RegExp; readonly why: string }[] = [
  {
    document: "openai",
    problem: /^\/response\/usage type$/,
    why: "before the end usage is null: the other document demands the member, this one knows no null, providers send it",
  },
  {
    document: "openai",
    problem: /^(?:\/response)?\/text\/format(?: oneOf|\/description type|\/type enum)$/,
    why: "the description of a schema is null when there is none: the other document demands it, providers send it",
  },
  {
    document: "openresponses",
    problem: /^(?:\/response)?\/text\/format(?: oneOf|\/type enum|\/schema type|\/schema anyOf)$/,
    why: "the document lets a schema be nothing but null, which would echo no schema at all",
  },
];

/** Kinds of items that Open Responses leaves to its hosts. */
const unknownToOpenResponses =
  /^(?:custom_tool_call|code_interpreter_call|image_generation_call|web_search_call)$|^response\.(?:custom_tool_call|code_interpreter_call|image_generation_call|web_search_call)/;

function problemsOf(document: PublishedDocument, frame: JsonObject): string[] {
  const problems = document.event(frame);
  if (problems === undefined) {
    return unknownToOpenResponses.test(String(frame["type"])) ? [] : [`no schema for ${frame["type"]}`];
  }
  return problems.filter((problem) => !isExcepted(document.name, problem));
}

function isExcepted(document: string, problem: string): boolean {
  return exceptions.some((exception) => exception.document === document && exception.problem.test(problem));
}

/** A frame or response without what Open Responses has no words for. */
function inItsWords(document: PublishedDocument, value: JsonObject): JsonObject | undefined {
  if (document.name !== "openresponses") return value;
  const { item, response, output, tools, tool_choice: choice } = value;
  if (isForeign(item)) return undefined;
  const own = (list: unknown): unknown => (Array.isArray(list) ? list.filter((entry) => !isForeign(entry)) : list);
  const isOwnChoice = typeof choice !== "object" || choice === null || Reflect.get(choice, "type") !== "custom";
  return {
    ...value,
    ...(output === undefined ? {} : { output: own(output) }),
    ...(tools === undefined ? {} : { tools: own(tools), tool_choice: isOwnChoice ? choice : "auto" }),
    ...(typeof response === "object" && response !== null ? { response: inItsWords(document, { ...response }) } : {}),
  };
}

function isForeign(entry: unknown): boolean {
  const type = typeof entry === "object" && entry !== null ? Reflect.get(entry, "type") : undefined;
  return ["custom", "web_search", "namespace"].includes(type) || unknownToOpenResponses.test(String(type));
}

function assertPublished(documents: readonly PublishedDocument[], events: readonly ReplyEvent[], body: object): void {
  const stream = writeStream(events, replyContext({ ...body, stream: true }));
  const whole = writeWhole(aggregateReply(events), replyContext({ ...body }));
  for (const document of documents) {
    for (const frame of framesOf(stream)) {
      const known = inItsWords(document, frame);
      if (known !== undefined) assert.deepEqual(problemsOf(document, known), [], `${document.name} ${frame["type"]}`);
    }
    const known = inItsWords(document, whole) ?? {};
    const problems = document.response(known).filter((problem) => !isExcepted(document.name, problem));
    assert.deepEqual(problems, [], `${document.name} whole`);
  }
}

/** Echoed by the response in full. */
const fullBody = {
  instructions: "be short",
  max_output_tokens: 100,
  max_tool_calls: 3,
  temperature: 0,
  top_p: 0.5,
  top_logprobs: 2,
  include: ["message.output_text.logprobs", "reasoning.encrypted_content"],
  reasoning: { effort: "low", summary: "concise" },
  text: { format: { type: "json_schema", name: "out", schema: { type: "object" } }, verbosity: "low" },
  tools: [
    { type: "function", name: "f" },
    { type: "function", name: "g", description: "G", parameters: { type: "object", properties: {} }, strict: true },
    { type: "custom", name: "c", format: { type: "grammar", syntax: "regex", definition: "a+" } },
    { type: "web_search", search_context_size: "low" },
    { type: "namespace", name: "ns", description: "N", tools: [{ type: "function", name: "inner" }] },
  ],
  tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "f" }] },
  parallel_tool_calls: false,
  truncation: "auto",
  store: false,
  metadata: { trace: "1" },
  user: { id: "u" },
  safety_identifier: "s",
  prompt_cache_key: "k",
  service_tier: "flex",
};

const everything: readonly ReplyEvent[] = [
  { type: "start", id: "up", model: "other", serviceTier: "standard" },
  { type: "open", candidate: 0, part: 0, block: { kind: "reasoning" } },
  { type: "delta", candidate: 0, part: 0, text: "T" },
  { type: "state", candidate: 0, part: 0, state: { kind: "thinking", text: "T", signature: "SIG" } },
  { type: "close", candidate: 0, part: 0 },
  { type: "open", candidate: 0, part: 1, block: { kind: "text" } },
  {
    type: "logprobs",
    candidate: 0,
    part: 1,
    tokens: [{ token: "Hi", logprob: -1, top: [{ token: "Ho", logprob: -2 }] }],
  },
  { type: "delta", candidate: 0, part: 1, text: "Hi" },
  { type: "citation", candidate: 0, part: 1, citation: { url: "https://a.example/", title: "A" } },
  { type: "close", candidate: 0, part: 1 },
  { type: "open", candidate: 0, part: 2, block: { kind: "refusal" } },
  { type: "delta", candidate: 0, part: 2, text: "no" },
  { type: "close", candidate: 0, part: 2 },
  { type: "open", candidate: 0, part: 3, block: { kind: "call", id: "call_1", name: "f", tool: "function" } },
  { type: "state", candidate: 0, part: 3, state: { kind: "thought-signature", data: "TSIG" } },
  { type: "close", candidate: 0, part: 3 },
  { type: "open", candidate: 0, part: 4, block: { kind: "call", id: undefined, name: "c", tool: "custom" } },
  { type: "delta", candidate: 0, part: 4, text: "aa" },
  { type: "close", candidate: 0, part: 4 },
  { type: "open", candidate: 0, part: 5, block: { kind: "media", mime: "image/webp", base64: "AAAA" } },
  { type: "close", candidate: 0, part: 5 },
  { type: "open", candidate: 0, part: 6, block: { kind: "hosted", tool: "web-search", type: "googleSearch" } },
  { type: "close", candidate: 0, part: 6 },
  { type: "open", candidate: 0, part: 7, block: { kind: "hosted", tool: "code", type: "x", code: "1+1", output: "2" } },
  { type: "close", candidate: 0, part: 7 },
  { type: "finish", candidate: 0, finish: { reason: "length" } },
  { type: "end" },
];

describe("responses: what the client gets, by the published documents", () => {
  const documents = publishedDocuments();
  if (documents === undefined) {
    it(explainAbsence("published documents"), function () {
      this.skip();
    });
    return;
  }

  it("everything that the format can say is as published", () => assertPublished(documents, everything, fullBody));

  it("the least response is as published", () =>
    assertPublished(
      documents,
      [
        { type: "start", id: undefined, model: undefined },
        { type: "finish", candidate: 0, finish: { reason: "content-filter", isPromptBlocked: true } },
        { type: "end" },
      ],
      {},
    ));

  it("a stream that failed is as published", () => {
    for (const upTo of [0, 1, 3, 8, 12, 15, 18, everything.length - 1]) {
      const context = replyContext({ ...fullBody, stream: true });
      const writer = responsesClientTranslator.createStreamWriter(context);
      let text = "";
      for (const event of everything.slice(0, upTo)) text += writer.write(event);
      text += writer.fail(new GatewayError("upstream_error", "The provider broke off."), { requestId: "r" });
      for (const document of documents) {
        for (const frame of framesOf(text)) {
          const known = inItsWords(document, frame);
          if (known !== undefined)
            assert.deepEqual(problemsOf(document, known), [], `${document.name} ${frame["type"]}`);
        }
      }
    }
  });

  for (const { id, protocol, httpStatus, expected, isStream, bytes } of readRecorded() ?? []) {
    if (protocol !== "openai-responses" || httpStatus >= 400 || expected["status"] === "error") continue;
    it(`${id} is as published`, () => {
      const events = isStream
        ? readStream(bytes())
        : [...replayReply(responsesUpstreamTranslator.readReply(JSON.parse(bytes().toString("utf8"))))];
      assertPublished(documents, events, { include: ["message.output_text.logprobs"] });
    });
  }
});
