import assert from "node:assert/strict";
import { isObject } from "#proxy/json/json-value";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { sendTo } from "#test/support/translation/pure-translation";

const call = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "hi" }] };
const search = { type: "web_search_20250305", name: "web_search" };
const f = { name: "f", input_schema: { type: "object" } };
const chooseSearch = { type: "tool", name: "web_search" };
const chatF = { type: "function", function: { name: "f" } };

function chosen(to: ChatWireFormat, from: ChatWireFormat, body: object): unknown {
  const sent = sendTo(to, from, { ...call, ...body });
  if (!("body" in sent)) return sent;
  return [isObject(sent.body) ? sent.body["tool_choice"] : undefined, sent.dropped?.includes("tool_choice") ?? false];
}

describe("the choice among tools names none that is not offered", () => {
  const rows: readonly { name: string; to: ChatWireFormat; from: ChatWireFormat; body: object; want: unknown }[] = [
    {
      name: "a search that the provider runs is chosen by its type",
      to: "Responses",
      from: "Messages",
      body: { tools: [search], tool_choice: chooseSearch },
      want: [{ type: "web_search" }, false],
    },
    {
      name: "a client's own tool of that name comes first",
      to: "Responses",
      from: "Messages",
      body: { tools: [{ ...f, name: "web_search" }], tool_choice: chooseSearch },
      want: [{ type: "function", name: "web_search" }, false],
    },
    {
      name: "the choice of a search that was dropped is lost with it",
      to: "ChatCompletions",
      from: "Messages",
      body: { tools: [search, f], tool_choice: chooseSearch },
      want: [undefined, true],
    },
    {
      name: "the choice of an unknown function is lost for responses",
      to: "Responses",
      from: "ChatCompletions",
      body: { tools: [chatF], tool_choice: { type: "function", function: { name: "g" } } },
      want: [undefined, true],
    },
    {
      name: "the choice of an unknown function is lost for messages",
      to: "Messages",
      from: "ChatCompletions",
      body: { tools: [chatF], tool_choice: { type: "function", function: { name: "g" } } },
      want: [undefined, true],
    },
  ];
  for (const { name, to, from, body, want } of rows) {
    it(name, () => assert.deepEqual(chosen(to, from, body), want));
  }
});
