/** Puts what a client may say into a call that is whole: with the tools that a choice is of, the call that a result answers. */
import { asList, isObject, member } from "#proxy/json/json-value";
import type { ChatWireFormat } from "#proxy/neutral/wire";

type Body = Record<string, unknown>;

const schema = { type: "object", properties: { a: { type: "number" } } };

const bases: Readonly<Record<ChatWireFormat, Body>> = {
  ChatCompletions: { model: "m", messages: [{ role: "user", content: "hi" }] },
  Responses: { model: "m", input: "hi" },
  Messages: { model: "m", max_tokens: 4096, messages: [{ role: "user", content: "hi" }] },
  GenerateContent: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
};

const tools: Readonly<Record<ChatWireFormat, unknown[]>> = {
  ChatCompletions: [{ type: "function", function: { name: "lookup", parameters: schema } }],
  Responses: [{ type: "function", name: "lookup", parameters: schema, strict: false }],
  Messages: [{ name: "lookup", input_schema: schema }],
  GenerateContent: [{ functionDeclarations: [{ name: "lookup", parametersJsonSchema: schema }] }],
};

/** What a member is about, by the beginning of its path: without it the member says nothing. */
const companions: Readonly<Record<ChatWireFormat, readonly (readonly [RegExp, Body])[]>> = {
  ChatCompletions: [
    [/^(tool_choice|parallel_tool_calls)/, { tools: tools.ChatCompletions }],
    [/^function_call/, { functions: [{ name: "lookup", parameters: schema }] }],
    [/^top_logprobs/, { logprobs: true }],
  ],
  Responses: [
    [/^(tool_choice|parallel_tool_calls|max_tool_calls)/, { tools: tools.Responses }],
    [/^top_logprobs/, { include: ["message.output_text.logprobs"] }],
  ],
  Messages: [[/^tool_choice/, { tools: tools.Messages }]],
  GenerateContent: [
    [/^toolConfig/, { tools: tools.GenerateContent }],
    [/^generationConfig\.logprobs/, { generationConfig: { responseLogprobs: true } }],
  ],
};

/** @param path of what it is made for, from the body down */
export function whole(format: ChatWireFormat, path: string, body: unknown): Body {
  const more = companions[format].filter(([about]) => about.test(path)).map(([, companion]) => companion);
  const call: Body = Object.assign({}, bases[format], ...more, body);
  const generation = Object.assign({}, ...[...more, body].map((part) => member(part, "generationConfig")));
  if (Object.keys(generation).length > 0) call["generationConfig"] = generation;
  return surround[format](call);
}

const surround: Readonly<Record<ChatWireFormat, (body: Body) => Body>> = {
  ChatCompletions: (body) => ({ ...body, messages: asList(body["messages"]).flatMap(aroundMessage) }),
  Responses: (body) => (Array.isArray(body["input"]) ? { ...body, input: body["input"].flatMap(aroundItem) } : body),
  Messages: (body) => ({ ...body, messages: asList(body["messages"]).flatMap(aroundTurn) }),
  GenerateContent: (body) => ({ ...body, contents: asList(body["contents"]).flatMap(aroundContent) }),
};

const hello = { role: "user", content: "hi" };
const goOn = { role: "user", content: "go on" };

function aroundMessage(message: unknown): unknown[] {
  const role = member(message, "role");
  if (role === "tool") {
    const call = { id: "call_1", type: "function", function: { name: "lookup", arguments: "{}" } };
    return [hello, { role: "assistant", content: null, tool_calls: [call] }, message];
  }
  if (role !== "assistant") return role === "user" ? [message] : [message, hello];
  const calls = asList(member(message, "tool_calls"));
  return [hello, message, ...calls.map(() => ({ role: "tool", tool_call_id: "call_1", content: "done" })), goOn];
}

function aroundItem(item: unknown): unknown[] {
  const type = member(item, "type");
  if (type === "function_call_output") {
    const call = { type: "function_call", call_id: "call_1", name: "lookup", arguments: "{}" };
    return [hello, call, item];
  }
  if (type === "custom_tool_call_output") {
    return [hello, { type: "custom_tool_call", call_id: "call_1", name: "lookup", input: "x" }, item];
  }
  if (type === "function_call")
    return [hello, item, { type: "function_call_output", call_id: "call_1", output: "done" }];
  if (type === "custom_tool_call") {
    return [hello, item, { type: "custom_tool_call_output", call_id: "call_1", output: "done" }];
  }
  return member(item, "role") === "user" ? [item] : [hello, item, goOn];
}

/** Blocks that only a model says. */
const ofModel = /^(tool_use|thinking|redacted_thinking|server_tool_use|.*_tool_result)$/;

function aroundTurn(turn: unknown): unknown[] {
  if (!isObject(turn)) return [turn];
  const [block] = asList(turn["content"]);
  const type = String(member(block, "type") ?? "");
  if (ofModel.test(type)) {
    const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "done" }] };
    return [hello, { ...turn, role: "assistant" }, type === "tool_use" ? result : goOn];
  }
  if (type === "tool_result") {
    const call = { type: "tool_use", id: "call_1", name: "lookup", input: {} };
    return [hello, { role: "assistant", content: [call] }, { ...turn, role: "user" }];
  }
  return [{ ...turn, role: "user" }];
}

function aroundContent(content: unknown): unknown[] {
  if (!isObject(content)) return [content];
  const [part] = asList(content["parts"]);
  const ask = { role: "user", parts: [{ text: "hi" }] };
  const call = { role: "model", parts: [{ functionCall: { id: "call_1", name: "lookup", args: {} } }] };
  const result = { functionResponse: { id: "call_1", name: "lookup", response: { a: 1 } } };
  if (member(part, "functionResponse") !== undefined) return [ask, call, { ...content, role: "user" }];
  if (member(part, "functionCall") !== undefined)
    return [ask, { ...content, role: "model" }, { role: "user", parts: [result] }];
  return [{ ...content, role: "user" }];
}
