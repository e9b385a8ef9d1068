/** What is reserved of a completion, where rules of channels change its cap or the number of its candidates. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { Claims } from "#proxy/admit/claims";
import { estimateCompletion } from "#proxy/endpoints/completions/estimate-completion";
import { readCompletion } from "#proxy/endpoints/completions/read-completion";
import type { AuthorizedCompletion } from "#proxy/endpoints/completions/serve-completion";
import { defaultLimits } from "#proxy/limits";
import type { BodyRules, Channel } from "#proxy/snapshot/types.gen";
import { snapshotWith } from "#test/support/snapshot-of";
import { wireChannel, wireCredential, wireRoute } from "#test/support/wire-objects";

const path = { protocol: "OpenAI", format: "Completions", capability: "Completion" } as const;
const both: Channel["formats"] = [
  { type: "Completions", path: "/c" },
  { type: "ChatCompletions", path: "/chat" },
];

interface Case {
  readonly name: string;
  readonly call: object;
  readonly body?: BodyRules;
  /** Of the model; all when absent. */
  readonly capabilities?: NonNullable<Channel["models"]>[number]["capabilities"];
  /** Output tokens of one candidate; undefined: as of a call without a cap. */
  readonly cap: number | undefined;
  readonly candidates: number;
}

const set = (field: string, value: unknown): BodyRules => ({ set: [{ field, value }] });
const defaultReserve = 777;

async function estimated({ call, body, capabilities }: Case): Promise<{ candidates: number; cap: number }> {
  const channel = wireChannel("main", {
    formats: both,
    ...(body && { body }),
    ...(capabilities && { models: [{ name: "m", capabilities }] }),
  });
  const route = wireRoute("m", {
    capabilities: ["Completion"],
    info: { maxOutputTokens: defaultReserve },
    targets: [{ name: "main", channel: "team-a/main", priority: 0, weight: 1 }],
  });
  const snapshot = snapshotWith(route, channel, wireCredential("main"));
  const bytes = Buffer.from(JSON.stringify({ model: "m", prompt: "a", ...call }));
  const authorized = {
    call: readCompletion(bytes, path, defaultLimits),
    route,
    snapshot,
  } as unknown as AuthorizedCompletion;
  const { candidates, outputReserve } = await estimateCompletion(authorized, { balances: [] } as unknown as Claims);
  return { candidates, cap: outputReserve };
}

describe("estimateCompletion()", () => {
  const rows: readonly Case[] = [
    { name: "the client's cap", call: { max_tokens: 5 }, cap: 5, candidates: 1 },
    { name: "the cap by its other name", call: { max_completion_tokens: 5 }, cap: 5, candidates: 1 },
    {
      name: "no cap where a rule takes out the member that it goes out in",
      call: { max_completion_tokens: 5 },
      body: { remove: ["max_tokens"] },
      cap: undefined,
      candidates: 1,
    },
    {
      name: "the cap where a rule takes out a member that is not sent",
      call: { max_completion_tokens: 5 },
      body: { remove: ["max_completion_tokens"] },
      cap: 5,
      candidates: 1,
    },
    {
      name: "what a rule sets, for each prompt",
      call: { max_tokens: 5, prompt: ["a", "b"] },
      body: set("best_of", 4),
      cap: 5,
      candidates: 8,
    },
    {
      name: "the cap of the chat call, where the model can only chat",
      call: { max_tokens: 5 },
      body: set("max_completion_tokens", 9),
      capabilities: ["Chat"],
      cap: 9,
      candidates: 1,
    },
    {
      name: "and not where it goes on with texts, which know no such member",
      call: { max_tokens: 5 },
      body: set("max_completion_tokens", 9),
      capabilities: ["Chat", "Completion"],
      cap: 5,
      candidates: 1,
    },
  ];
  for (const row of rows) {
    it(`reserves ${row.name}`, async () => {
      assert.deepEqual(await estimated(row), { candidates: row.candidates, cap: row.cap ?? defaultReserve });
    });
  }
});
