import assert from "node:assert/strict";
import { isObject } from "#proxy/json/json-value";
import { readBody, refusalOf } from "#test/support/translation/messages-exchange";

/** Without members that are undefined, which mean the same as absent ones. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

const schema = { type: "object", properties: {} };

describe("messages: readRequest, settings", () => {
  it("reads the least", () => {
    assert.deepEqual(plain(readBody()), {
      model: "m",
      stream: false,
      turns: [{ role: "user", parts: [{ kind: "text", text: "hi", where: "messages.0.content" }] }],
      tools: [],
      sampling: {},
      outputCap: 16,
      unmapped: [],
    });
  });

  for (const row of [
    {
      name: "pitfall 101: keeps zeros",
      body: { temperature: 0, top_p: 0, top_k: 0, max_tokens: 0 },
      want: { sampling: { temperature: 0, topP: 0, topK: 0 }, outputCap: 0 },
    },
    { name: "reads stop sequences", body: { stop_sequences: ["END"] }, want: { sampling: { stop: ["END"] } } },
    { name: "reads metadata.user_id as the user", body: { metadata: { user_id: "u" } }, want: { user: "u" } },
    { name: "reads the interface's own user", body: { user: "u" }, want: { user: "u" } },
    { name: "reads a user that is an object by its id", body: { user: { id: "u" } }, want: { user: "u" } },
    {
      name: "keeps texts of metadata and names the rest",
      body: { metadata: { trace: "t", deep: { a: 1 } } },
      want: { metadata: { trace: "t" }, unmapped: ["metadata.deep"] },
    },
    {
      name: "reads standard_only as the default tier",
      body: { service_tier: "standard_only" },
      want: { serviceTier: "default" },
    },
    {
      name: "reads the automatic cache mark",
      body: { cache_control: { type: "ephemeral", ttl: "1h" } },
      want: { automaticCache: { ttl: "1h" } },
    },
    {
      name: "pitfall 109: reads output_config, its format and its effort",
      body: { output_config: { effort: "high", format: { type: "json_schema", schema } } },
      want: { reasoning: { mode: "auto", effort: "high", show: false }, outputFormat: { kind: "schema", schema } },
    },
    {
      name: "reads the older spelling of the format",
      body: { output_format: { type: "json_schema", schema } },
      want: { outputFormat: { kind: "schema", schema } },
    },
    {
      name: "pitfall 110: names unknown members that ask for something, and no others",
      body: { future: 1, seed: null, speed: "fast", diagnostics: {}, container: null, inference_geo: "eu" },
      want: { unmapped: ["future", "speed", "inference_geo"] },
    },
    { name: "takes the usual speed for none", body: { speed: "standard" }, want: { unmapped: [] } },
    {
      name: "names the request to clear old thinking, which nobody else gets",
      body: { context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] } },
      want: { unmapped: ["context_management"] },
    },
    ...["clear_tool_uses_20250919", "compact_20260112"].map((type) => ({
      name: `pitfall 172: names ${type}, which only saves context`,
      body: { context_management: { edits: [{ type: "clear_thinking_20251015" }, { type }] } },
      want: { unmapped: ["context_management"] },
    })),
    { name: "takes no edits for no wish", body: { context_management: { edits: [] } }, want: { unmapped: [] } },
    { name: "says nothing of betas", body: { betas: ["x"] }, want: { unmapped: [] } },
  ]) {
    it(row.name, () => {
      const read = plain(readBody(row.body));
      assert.ok(isObject(read));
      for (const [member, value] of Object.entries(row.want)) assert.deepEqual(read[member], value, member);
    });
  }

  for (const row of [
    { name: "no thinking", body: {}, want: undefined },
    {
      name: "pitfall 94: thinking that is off",
      body: { thinking: { type: "disabled" } },
      want: { mode: "off", show: false },
    },
    {
      name: "a budget",
      body: { thinking: { type: "enabled", budget_tokens: 2000 } },
      want: { mode: "on", budget: 2000, show: true, carriesBlocks: true },
    },
    {
      name: "adaptive thinking",
      body: { thinking: { type: "adaptive" } },
      want: { mode: "auto", show: true, carriesBlocks: true },
    },
    {
      name: "adaptive thinking with effort that is not shown",
      body: { thinking: { type: "adaptive", display: "omitted" }, output_config: { effort: "max" } },
      want: { mode: "on", effort: "max", show: false, carriesBlocks: true },
    },
  ]) {
    it(`reads ${row.name}`, () => {
      const { reasoning } = readBody(row.body);
      assert.deepEqual(reasoning === undefined ? undefined : plain(reasoning), row.want);
    });
  }

  for (const row of [
    ...["container", "thread", "fallback_credit_token"].map((name) => ({ body: { [name]: "x" }, want: name })),
    ...["mcp_servers", "fallbacks"].map((name) => ({ body: { [name]: [{}] }, want: name })),
    { body: { context_management: { edits: [{ type: "rewrite_20270101" }] } }, want: "context_management" },
    {
      body: { context_management: { edits: [{ type: "compact_20260112", pause_after_compaction: true }] } },
      want: "context_management",
    },
  ]) {
    it(`refuses ${row.want}, which only the vendor has`, () =>
      assert.equal(
        refusalOf(() => readBody(row.body)),
        `unsupported_parameter ${row.want}`,
      ));
  }

  for (const row of [
    { name: "thinking of unknown kind", body: { thinking: { type: "deep" } }, want: "invalid_value thinking.type" },
    {
      name: "an effort of unknown name",
      body: { output_config: { effort: "huge" } },
      want: "invalid_value output_config.effort",
    },
    {
      name: "a format of unknown kind",
      body: { output_format: { type: "xml" } },
      want: "invalid_value output_format.type",
    },
    { name: "stop sequences that are no text", body: { stop_sequences: [1] }, want: "invalid_value stop_sequences.0" },
  ]) {
    it(`refuses ${row.name}`, () =>
      assert.equal(
        refusalOf(() => readBody(row.body)),
        row.want,
      ));
  }
});
