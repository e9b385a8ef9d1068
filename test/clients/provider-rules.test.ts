/** The scripted upstreams refuse what providers refuse: each rule once, beside a request that is right. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { chatCompletionsRules } from "#test/support/clients/rules/chat-completions";
import { generateContentRules } from "#test/support/clients/rules/generate-content";
import { messagesRules } from "#test/support/clients/rules/messages";
import { responsesRules } from "#test/support/clients/rules/responses";
import { type Rule, refusalOf } from "#test/support/clients/rules/rule";

interface Row {
  readonly name: string;
  readonly rules: readonly Rule[];
  readonly model: string;
  readonly body: object;
  /** Undefined: nothing is wrong. */
  readonly refusal: RegExp | undefined;
}

const schema = { type: "object", properties: { a: { type: "string" } } };
const longId = "x".repeat(65);

const chat = { rules: chatCompletionsRules, model: "gpt-5.4" };
const chatTool = (parameters: object, more: object = {}): object => ({
  tools: [{ type: "function", function: { name: "f", parameters, ...more } }],
});
const chatCall = (id: string): object => ({
  role: "assistant",
  tool_calls: [{ id, type: "function", function: { name: "f", arguments: "{}" } }],
});

const responses = { rules: responsesRules, model: "gpt-5.4" };
const responsesCall = (id: string): object => ({ type: "function_call", call_id: id, name: "f", arguments: "{}" });

const messages = { rules: messagesRules, model: "claude-opus-5-5" };
const messagesTool = (input_schema: object): object => ({ max_tokens: 9, tools: [{ name: "f", input_schema }] });

const gemini = { rules: generateContentRules, model: "gemini-3-pro-preview" };
const searchAndFunctions = { tools: [{ functionDeclarations: [{ name: "f" }] }, { googleSearch: {} }] };
const question = { role: "user", parts: [{ text: "hi" }] };
const answered = { role: "user", parts: [{ functionResponse: { name: "f", response: {} } }] };
const geminiCall = (signature: object): object => ({
  contents: [question, { role: "model", parts: [{ functionCall: { name: "f", args: {} }, ...signature }] }, answered],
});

const rows: readonly Row[] = [
  { name: "a function", ...chat, body: chatTool(schema), refusal: undefined },
  {
    name: "an effort beside functions",
    ...chat,
    body: { ...chatTool(schema), reasoning_effort: "low" },
    refusal: /reasoning_effort/,
  },
  {
    name: "no effort beside functions",
    ...chat,
    body: { ...chatTool(schema), reasoning_effort: "none" },
    refusal: undefined,
  },
  { name: "a schema without properties", ...chat, body: chatTool({ type: "object" }), refusal: /missing properties/ },
  {
    name: "an array without items",
    ...chat,
    body: chatTool({ type: "object", properties: { a: { type: "array" } } }),
    refusal: /missing items/,
  },
  { name: "`not` at the root", ...chat, body: chatTool({ ...schema, not: {} }), refusal: /at the top level/ },
  {
    name: "a strict schema that is open",
    ...chat,
    body: chatTool(schema, { strict: true }),
    refusal: /additionalProperties/,
  },
  { name: "a name with a dot", ...chat, body: chatTool(schema, { name: "a.b" }), refusal: /pattern/ },
  { name: "an unknown kind of tool", ...chat, body: { tools: [{ type: "web_search" }] }, refusal: /Supported values/ },
  {
    name: "a long id",
    ...chat,
    body: { messages: [chatCall(longId), { role: "tool", tool_call_id: longId }] },
    refusal: /too long/,
  },
  {
    name: "a call without a result",
    ...chat,
    body: { messages: [chatCall("a")] },
    refusal: /did not have response messages: a/,
  },
  {
    name: "a result without a call",
    ...chat,
    body: { messages: [{ role: "tool", tool_call_id: "a" }] },
    refusal: /must be a response/,
  },
  { name: "max_tokens of a model that thinks", ...chat, body: { max_tokens: 9 }, refusal: /max_completion_tokens/ },
  {
    name: "more tokens than the model has",
    ...chat,
    model: "gpt-4o",
    body: { max_tokens: 32_000 },
    refusal: /at most 16384/,
  },
  { name: "a temperature", ...chat, body: { temperature: 0.5 }, refusal: /temperature/ },

  {
    name: "a call and its result",
    ...responses,
    body: { input: [responsesCall("a"), { type: "function_call_output", call_id: "a" }] },
    refusal: undefined,
  },
  { name: "a long id", ...responses, body: { input: [responsesCall(longId)] }, refusal: /maximum length 64/ },
  {
    name: "a call without a result",
    ...responses,
    body: { input: [responsesCall("a")] },
    refusal: /No tool output found/,
  },
  {
    name: "a result without a call",
    ...responses,
    body: { input: [{ type: "function_call_output", call_id: "a" }] },
    refusal: /No tool call found/,
  },
  {
    name: "a schema without properties",
    ...responses,
    body: { tools: [{ type: "function", name: "f", parameters: { type: "object" } }] },
    refusal: /missing properties/,
  },
  { name: "few tokens", ...responses, body: { max_output_tokens: 9 }, refusal: />= 16/ },
  { name: "many tokens", ...responses, body: { max_output_tokens: 200_000 }, refusal: /<= 128000/ },

  { name: "a function", ...messages, body: messagesTool(schema), refusal: undefined },
  {
    name: "a forced function",
    ...messages,
    body: { ...messagesTool(schema), tool_choice: { type: "any" } },
    refusal: /forced tool use/,
  },
  {
    name: "a forced function of an older model",
    ...messages,
    model: "claude-opus-4-8",
    body: { ...messagesTool(schema), tool_choice: { type: "any" } },
    refusal: undefined,
  },
  {
    name: "thinking switched off",
    ...messages,
    body: { max_tokens: 9, thinking: { type: "disabled" } },
    refusal: /'disabled'/,
  },
  {
    name: "a budget",
    ...messages,
    body: { max_tokens: 9_000, thinking: { type: "enabled", budget_tokens: 2_000 } },
    refusal: /adaptive/,
  },
  {
    name: "a property key with a dollar",
    ...messages,
    body: messagesTool({ type: "object", properties: { $a: {} } }),
    refusal: /Property keys/,
  },
  { name: "anyOf at the root", ...messages, body: messagesTool({ type: "object", anyOf: [] }), refusal: /top level/ },
  { name: "no output cap", ...messages, body: {}, refusal: /max_tokens/ },
  {
    name: "an empty text",
    ...messages,
    body: { max_tokens: 9, messages: [{ role: "user", content: [{ type: "text", text: "" }] }] },
    refusal: /non-empty/,
  },
  {
    name: "a foreign signature",
    ...messages,
    body: {
      max_tokens: 9,
      messages: [{ role: "assistant", content: [{ type: "thinking", thinking: "", signature: "foreign" }] }],
    },
    refusal: /Invalid `signature`/,
  },
  {
    name: "a stray result",
    ...messages,
    body: { max_tokens: 9, messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "a" }] }] },
    refusal: /unexpected `tool_use_id`/,
  },

  {
    name: "search beside functions",
    ...gemini,
    body: searchAndFunctions,
    refusal: /include_server_side_tool_invocations/,
  },
  {
    name: "search beside functions, with its state",
    ...gemini,
    body: { ...searchAndFunctions, toolConfig: { includeServerSideToolInvocations: true } },
    refusal: undefined,
  },
  {
    name: "search beside functions of an older model",
    ...gemini,
    model: "gemini-2.5-pro",
    body: searchAndFunctions,
    refusal: /cannot be combined/,
  },
  {
    name: "a word outside the schema's subset",
    ...gemini,
    body: { tools: [{ functionDeclarations: [{ name: "f", parameters: { $schema: "" } }] }] },
    refusal: /Unknown name "\$schema"/,
  },
  { name: "a call without a signature", ...gemini, body: geminiCall({}), refusal: /missing a thought_signature/ },
  {
    name: "a call with a foreign signature",
    ...gemini,
    body: geminiCall({ thoughtSignature: "Zm9yZWlnbg==" }),
    refusal: /not valid/,
  },
  {
    name: "a call with the stand-in",
    ...gemini,
    body: geminiCall({ thoughtSignature: "skip_thought_signature_validator" }),
    refusal: undefined,
  },
  {
    name: "a call without a result",
    ...gemini,
    body: { contents: [question, { role: "model", parts: [{ functionCall: { name: "f" } }] }] },
    refusal: /number of function response parts/,
  },
  {
    name: "a turn without parts",
    ...gemini,
    body: { contents: [{ role: "user", parts: [] }] },
    refusal: /must not be empty/,
  },
];

const names = new Map<readonly Rule[], string>([
  [chatCompletionsRules, "chat completions"],
  [responsesRules, "responses"],
  [messagesRules, "messages"],
  [generateContentRules, "generateContent"],
]);

describe("clients: rules of providers", () => {
  for (const { name, rules, model, body, refusal } of rows) {
    it(`${names.get(rules)} ${refusal === undefined ? "takes" : "refuses"} ${name}`, () => {
      const told = refusalOf(rules, { ...body }, model);
      if (refusal === undefined) assert.equal(told, undefined);
      else assert.match(told ?? "nothing refused", refusal);
    });
  }
});
