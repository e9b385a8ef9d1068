import assert from "node:assert/strict";
import type { Conversation } from "#proxy/neutral/conversation";
import { readBody } from "#test/support/translation/responses-exchange";

describe("responses: readRequest of settings", () => {
  for (const row of [
    {
      name: "pitfall 101: zeros are values",
      body: { temperature: 0, top_p: 0, top_logprobs: 0, seed: 0, presence_penalty: 0, max_output_tokens: 0 },
      pick: ({ sampling, outputCap }: Conversation) => ({
        temperature: sampling.temperature,
        topP: sampling.topP,
        seed: sampling.seed,
        presencePenalty: sampling.presencePenalty,
        outputCap,
      }),
      want: { temperature: 0, topP: 0, seed: 0, presencePenalty: 0, outputCap: 0 },
    },
    {
      name: "shows reasoning when a summary is asked for",
      body: { reasoning: { effort: "high", summary: "detailed" } },
      pick: ({ reasoning }: Conversation) => reasoning,
      want: { mode: "on", effort: "high", show: true, summary: "detailed" },
    },
    {
      name: "switches reasoning off",
      body: { reasoning: { effort: "none" } },
      pick: ({ reasoning }: Conversation) => reasoning,
      want: { mode: "off" },
    },
    {
      name: "takes the older name of a summary",
      body: { reasoning: { generate_summary: "auto" } },
      pick: ({ reasoning }: Conversation) => reasoning,
      want: { mode: "auto", show: true, summary: "auto" },
    },
    {
      name: "reads a schema for the reply",
      body: { text: { format: { type: "json_schema", name: "n", schema: { type: "object" }, strict: true } } },
      pick: ({ outputFormat }: Conversation) => outputFormat,
      want: {
        kind: "schema",
        name: "n",
        schema: { type: "object" },
        strict: true,
        description: undefined,
        where: "text.format",
      },
    },
    {
      name: "reads log probabilities from what is to be included",
      body: { include: ["message.output_text.logprobs"], top_logprobs: 3 },
      pick: ({ sampling: { logprobs, topLogprobs } }: Conversation) => ({ logprobs, topLogprobs }),
      want: { logprobs: true, topLogprobs: 3 },
    },
    {
      name: "takes a user that is an object by its id",
      body: { user: { id: "u1", plan: "x" } },
      pick: ({ user }: Conversation) => user,
      want: "u1",
    },
    {
      name: "reads tools of every kind, and a lone one",
      body: {
        tools: { type: "web_search", filters: { allowed_domains: ["a.example"] }, user_location: { city: "B" } },
      },
      pick: ({ tools }: Conversation) => tools,
      want: [
        {
          kind: "hosted",
          tool: "web-search",
          type: "web_search",
          where: "tools",
          search: { allowedDomains: ["a.example"], userLocation: { city: "B" } },
        },
      ],
    },
    {
      name: "pitfall 79: a tool without a type is a function",
      body: { tools: [{ name: "f" }] },
      pick: ({ tools }: Conversation) => tools.map(({ kind }) => kind),
      want: ["function"],
    },
    {
      name: "flattens a namespace of tools",
      body: { tools: [{ type: "namespace", name: "ns", tools: [{ type: "function", name: "f" }] }] },
      pick: ({ tools }: Conversation) => tools.map((tool) => (tool.kind === "hosted" ? tool.type : tool.name)),
      want: ["ns__f"],
    },
    {
      name: "pitfall 77: every form of a choice is read",
      body: { tool_choice: { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "f" }] } },
      pick: ({ toolChoice }: Conversation) => toolChoice,
      want: { type: "required", only: ["f"] },
    },
    {
      name: "pitfall 77: none stays none",
      body: { tool_choice: "none" },
      pick: ({ toolChoice }: Conversation) => toolChoice,
      want: { type: "none" },
    },
    {
      name: "pitfall 77: a named tool",
      body: { tool_choice: { type: "custom", name: "c" } },
      pick: ({ toolChoice }: Conversation) => toolChoice,
      want: { type: "named", name: "c" },
    },
    {
      name: "pitfall 110: unknown members are declared and not refused",
      body: { wish: "x", truncation: "auto", include: ["web_search_call.action.sources"], max_tool_calls: 3, n: null },
      pick: ({ unmapped }: Conversation) => unmapped,
      want: ["wish", "max_tool_calls", "truncation", "include"],
    },
    {
      name: "pitfall 172: compaction, which only saves context, is declared",
      body: { context_management: [{ type: "compaction", compact_threshold: 100_000 }] },
      pick: ({ unmapped }: Conversation) => unmapped,
      want: ["context_management"],
    },
    {
      name: "says nothing of members that say nothing",
      body: { background: false, truncation: "disabled", include: [], moderation: null, image: {}, metadata: {} },
      pick: ({ unmapped }: Conversation) => unmapped,
      want: [],
    },
    {
      name: "keeps a member of metadata named like a prototype",
      body: JSON.parse('{"metadata": {"__proto__": "x", "n": 1}}'),
      pick: ({ metadata }: Conversation) => JSON.stringify(metadata),
      want: '{"__proto__":"x","n":"1"}',
    },
  ]) {
    it(row.name, () => assert.deepEqual(row.pick(readBody(row.body)), row.want));
  }
});
