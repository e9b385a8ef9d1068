/** Functions beside tools that Google runs, from clients of the other formats: what is sent, and what comes back again. */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "#proxy/json/json-value";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { readTranslatableCall, type Translation, withoutSealedState } from "#proxy/translate/translation";
import { callOf, emptyCallStates, type SpecialTarget, translate } from "#test/support/translation/pure-translation";

type ClientFormat = Exclude<ChatWireFormat, "GenerateContent">;
const schema = { type: "object", properties: { cmd: { type: "string" } }, required: ["cmd"] };

/** The client's own function and the search, each as the format spells it. */
const clients: Readonly<Record<ClientFormat, JsonObject>> = {
  ChatCompletions: {
    model: "m",
    messages: [{ role: "user", content: "hi" }],
    tools: [{ type: "function", function: { name: "f", parameters: schema } }],
    web_search_options: {},
  },
  Responses: {
    model: "m",
    input: [{ role: "user", content: "hi" }],
    store: false,
    tools: [
      { type: "function", name: "f", strict: false, parameters: schema },
      { type: "web_search", external_web_access: true },
    ],
  },
  Messages: {
    model: "m",
    max_tokens: 4096,
    thinking: { type: "enabled", budget_tokens: 2048 },
    messages: [{ role: "user", content: "hi" }],
    tools: [
      { name: "f", input_schema: schema },
      { type: "web_search_20250305", name: "web_search" },
    ],
  },
};
const formats = Object.keys(clients) as ClientFormat[];

const search = {
  toolCall: {
    toolType: "GOOGLE_SEARCH_WEB",
    args: { queries: ["gold price"], n: 12345678901234567890n },
    id: "s1a2b3c4",
  },
  thoughtSignature: "U0lHMQ==",
};
const found = {
  toolResponse: { toolType: "GOOGLE_SEARCH_WEB", response: { search_suggestions: "<div>" }, id: "s1a2b3c4" },
  thoughtSignature: "U0lHMg==",
};
const call = { functionCall: { id: "f1a2b3c4", name: "f", args: { cmd: "ls" } }, thoughtSignature: "U0lHMw==" };
const parts = [search, found, call];

/** With digits that a double cannot hold. */
function json(value: unknown): string {
  return JSON.stringify(value, (_name, it) => (typeof it === "bigint" ? `#${it}#` : it)).replace(/"#(\d+)#"/g, "$1");
}

const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
function replyOf(said: readonly object[], more: object = {}): string {
  return json({ candidates: [{ index: 0, content: { role: "model", parts: said }, ...more }], usageMetadata });
}

function sent(translation: Translation): { text: string; body: Record<string, unknown> } {
  const text = translation.upstreamCall.body.bytes.toString("utf8");
  return { text, body: JSON.parse(text) };
}

function translationOf(format: ClientFormat, body: object, stream: boolean, special: SpecialTarget = {}): Translation {
  return translate(readTranslatableCall(callOf(format, body, stream)), "GenerateContent", "Reject", special);
}

/** What the client would say next: all of the reply, and the result of its call. */
function nextBody(format: ClientFormat, body: JsonObject, answer: JsonObject): JsonObject {
  switch (format) {
    case "ChatCompletions": {
      const message = Object(answer["choices"])[0].message;
      const result = { role: "tool", tool_call_id: message.tool_calls[0].id, content: "ok" };
      return { ...body, messages: [...Object(body["messages"]), message, result] };
    }
    case "Responses": {
      const output = Object(answer["output"]) as JsonObject[];
      const called = output.find(({ type }) => type === "function_call");
      const result = { type: "function_call_output", call_id: called?.["call_id"], output: "ok" };
      return { ...body, input: [...Object(body["input"]), ...output, result] };
    }
    default: {
      const content = Object(answer["content"]) as JsonObject[];
      const called = content.find(({ type }) => type === "tool_use");
      const result = { type: "tool_result", tool_use_id: called?.["id"], content: "ok" };
      const messages = [
        { role: "assistant", content },
        { role: "user", content: [result] },
      ];
      return { ...body, messages: [...Object(body["messages"]), ...messages] };
    }
  }
}

/** A reply as the client puts it together of its stream. */
function gathered(format: ClientFormat, stream: string): JsonObject {
  const events = [...stream.matchAll(/^data: (\{.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
  if (format === "Responses") return events.at(-1).response;
  return format === "Messages" ? { content: blocksOf(events) } : { choices: [{ message: messageOf(events) }] };
}

function blocksOf(events: readonly Record<string, JsonObject>[]): JsonObject[] {
  const blocks: Record<string, unknown>[] = [];
  let json = "";
  for (const { type, content_block: block, delta } of events) {
    if (String(type) === "content_block_start") blocks.push({ ...block });
    const last = blocks.at(-1) ?? {};
    if (delta?.["type"] === "signature_delta") last["signature"] = delta["signature"];
    if (delta?.["type"] === "text_delta") last["text"] = `${last["text"]}${delta["text"]}`;
    if (delta?.["type"] === "input_json_delta") json += delta["partial_json"];
    if (String(type) === "content_block_stop" && json !== "") last["input"] = JSON.parse(json);
    if (String(type) === "content_block_stop") json = "";
  }
  return blocks;
}

function messageOf(events: readonly Record<string, unknown>[]): JsonObject {
  const calls: Record<string, unknown>[] = [];
  for (const { choices } of events) {
    for (const piece of Object(choices)[0]?.delta?.tool_calls ?? []) {
      const known = calls[piece.index] ?? { ...piece, function: { ...piece.function, arguments: "" } };
      calls[piece.index] = { ...known, ...piece, function: known["function"] };
      Object(known["function"]).arguments += piece.function.arguments;
    }
  }
  return { role: "assistant", content: null, tool_calls: calls.map(({ index: _index, ...one }) => one) };
}

function answerTo(
  translation: Translation,
  format: ClientFormat,
  isStream: boolean,
  frames: readonly string[],
): JsonObject {
  if (!isStream) {
    const whole = frames.length === 1 ? (frames[0] ?? "") : "";
    return JSON.parse(translation.translateReply(Buffer.from(whole)).body.toString("utf8"));
  }
  const filter = translation.createStreamFilter(1 << 20);
  const text = frames.map((frame) => `data: ${frame}\r\n\r\n`).join("");
  const pieces = [...filter.push(Buffer.from(text)), ...filter.end()];
  assert.ok(filter.isComplete, filter.violation);
  return gathered(format, Buffer.concat(pieces).toString("utf8"));
}

const inPieces = [...parts.map((part) => replyOf([part])), replyOf([{ text: "" }], { finishReason: "STOP" })];
const inOne = [replyOf(parts, { finishReason: "STOP" })];

describe("pitfalls 152 and 167: functions beside a search at Gemini 3", () => {
  for (const format of formats) {
    for (const isStream of [false, true]) {
      const told = `${format}${isStream ? ", streamed" : ""}`;

      it(`ask for what the provider's tools did, and check calls: ${told}`, () => {
        const { body } = sent(translationOf(format, clients[format], isStream));
        assert.deepEqual(
          Object(body["tools"]).map((tool: object) => Object.keys(tool)),
          [["functionDeclarations"], ["googleSearch"]],
        );
        assert.deepEqual(body["toolConfig"], {
          functionCallingConfig: { mode: "VALIDATED" },
          includeServerSideToolInvocations: true,
        });
      });

      it(`bring back what they did as it was, to nobody else: ${told}`, () => {
        const callStates = emptyCallStates();
        const first = translationOf(format, clients[format], isStream, { callStates });
        const answer = answerTo(first, format, isStream, isStream ? inPieces : inOne);
        const next = nextBody(format, clients[format], answer);
        const { text, body } = sent(translationOf(format, next, isStream, { callStates: emptyCallStates() }));
        assert.ok(text.includes(json(parts).slice(1, -1)), text);
        assert.equal(Object(body["toolConfig"]).includeServerSideToolInvocations, true);
        const [result] = Object(body["contents"]).at(-1).parts;
        assert.deepEqual(result.functionResponse.id, "f1a2b3c4");
        assertKeptFromOthers(format, next);
      });
    }

    it(`say so too where the search is offered no more: ${format}`, () => {
      const answer = answerTo(translationOf(format, clients[format], false), format, false, inOne);
      const { web_search_options: _search, ...next } = nextBody(format, clients[format], answer);
      const tools = Object(next["tools"]).slice(0, 1);
      const { body } = sent(translationOf(format, { ...next, tools }, false));
      assert.equal(Object(body["tools"]).length, 1);
      assert.equal(Object(body["toolConfig"]).includeServerSideToolInvocations, true);
    });

    for (const target of [
      { model: "gemini-2.5-flash" },
      { provider: "VertexAI", model: "gemini-3-pro" },
      { provider: "GeminiCompatible", model: "my-model" },
    ] as const) {
      it(`drop the search by name at ${Object.values(target).join(" ")}: ${format}`, () => {
        const request = readTranslatableCall(callOf(format, clients[format], false));
        const translation = translate(request, "GenerateContent", "Ignore", target);
        const { body } = sent(translation);
        assert.deepEqual(
          Object(body["tools"]).map((tool: object) => Object.keys(tool)),
          [["functionDeclarations"]],
        );
        assert.equal(Object(body["toolConfig"] ?? {}).includeServerSideToolInvocations, undefined);
        assert.deepEqual(translation.dropped.filter((name) => /^(tools|web_search_options)/.test(name)).length, 1);
      });
    }
  }

  it("keep a forced call forced, and leave a search alone without the flag", () => {
    const forced = sent(translationOf("Responses", { ...clients.Responses, tool_choice: "required" }, false)).body;
    assert.deepEqual(forced["toolConfig"], {
      functionCallingConfig: { mode: "ANY" },
      includeServerSideToolInvocations: true,
    });
    const none = sent(translationOf("Responses", { ...clients.Responses, tool_choice: "none" }, false)).body;
    assert.deepEqual(none["toolConfig"], { functionCallingConfig: { mode: "NONE" } });
    const alone = sent(
      translationOf("Responses", { ...clients.Responses, tools: [{ type: "web_search" }] }, false),
    ).body;
    assert.equal(alone["toolConfig"], undefined);
  });

  it("remember what they did where a messages client takes no thinking", () => {
    const { thinking: _thinking, ...plain } = clients.Messages;
    const callStates = emptyCallStates();
    const first = translationOf("Messages", plain, false, { callStates });
    const answer = answerTo(first, "Messages", false, inOne);
    assert.deepEqual(
      Object(answer["content"]).map(({ type }: JsonObject) => type),
      ["server_tool_use", "web_search_tool_result", "tool_use"],
    );
    const { text } = sent(translationOf("Messages", nextBody("Messages", plain, answer), false, { callStates }));
    assert.ok(text.includes(json(parts).slice(1, -1)), text);
  });

  for (const format of ["Responses", "Messages"] as const) {
    it(`bring back what they did where it stood among texts: ${format}`, () => {
      const said = [{ text: "First." }, search, found, { text: "Then." }, call];
      for (const frames of [[replyOf(said, { finishReason: "STOP" })], said.map((part) => replyOf([part]))]) {
        const isStream = frames.length > 1;
        const ended = isStream ? [...frames, replyOf([], { finishReason: "STOP" })] : frames;
        const answer = answerTo(translationOf(format, clients[format], isStream), format, isStream, ended);
        const { text } = sent(translationOf(format, nextBody(format, clients[format], answer), isStream));
        assert.ok(text.includes(json(said).slice(1, -1)), text);
      }
    });
  }

  it("bring back nothing at a model that takes no mix", () => {
    const answer = answerTo(translationOf("Responses", clients.Responses, false), "Responses", false, inOne);
    const next = readTranslatableCall(callOf("Responses", nextBody("Responses", clients.Responses, answer), false));
    const { text } = sent(translate(next, "GenerateContent", "Ignore", { model: "gemini-2.5-pro" }));
    assert.ok(!text.includes("toolCall") && !text.includes("includeServerSide"), text);
  });

  it("bring back code that such a model names, and nothing of what others only show", () => {
    const ran = (members: object) => [
      { executableCode: { language: "PYTHON", code: "1", ...members } },
      { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1", ...members } },
    ];
    for (const members of [{}, { id: "c1a2b3c4" }]) {
      const frames = [replyOf([...ran(members), call], { finishReason: "STOP" })];
      const answer = answerTo(translationOf("Responses", clients.Responses, false), "Responses", false, frames);
      const types = Object(answer["output"]).map(({ type }: JsonObject) => type);
      const next = readTranslatableCall(callOf("Responses", nextBody("Responses", clients.Responses, answer), false));
      const { text } = sent(translate(next, "GenerateContent"));
      assert.equal(text.includes(json(ran(members)).slice(1, -1)), "id" in members);
      assert.equal(types[0] === "reasoning", "id" in members);
    }
  });
});

/** Neither the client's own provider nor one of a third format sees anything of it. */
function assertKeptFromOthers(format: ClientFormat, next: JsonObject): void {
  const native = withoutSealedState(callOf(format, next, false)).body.bytes.toString("utf8");
  for (const other of formats.filter((it) => it !== format)) {
    const { text } = sent(
      translate(readTranslatableCall(callOf(format, next, false)), other, "Ignore", { name: "ns/other" }),
    );
    for (const body of [native, text]) {
      for (const secret of ["tg1", "dGcx", "GOOGLE_SEARCH_WEB", "U0lH"]) assert.ok(!body.includes(secret), body);
    }
  }
  assert.ok(isObject(JSON.parse(native)));
}
