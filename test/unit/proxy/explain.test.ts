import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "mocha";
import { type ExplainedTarget, type Explanation, explain, explainedFormats } from "#proxy/explain";
import type { Channel, Route } from "#proxy/snapshot/types.gen";
import { snapshotWith } from "#test/support/snapshot-of";
import { wireChannel, wireCredential, wireKey, wireRoute } from "#test/support/wire-objects";

interface Case {
  readonly name: string;
  readonly target?: Partial<Route["targets"][number]>;
  readonly channel?: Partial<Channel>;
  readonly want: Partial<ExplainedTarget>;
}

function explained({ target, channel }: Case): Explanation {
  const route = wireRoute("m", {
    targets: [{ name: "main", channel: "team-a/main", priority: 0, weight: 1, ...target }],
  });
  const snapshot = snapshotWith(wireKey("bot"), route, wireChannel("main", channel), wireCredential("main"));
  return explain({ key: "team-a/bot", model: "m" }, snapshot, 0);
}

describe("explain()", () => {
  for (const row of [
    { name: "takes a target as selection does", want: { upstreamModel: "m", usable: "yes" } },
    {
      name: "says that a target of weight 0 takes no calls",
      target: { weight: 0 },
      want: { usable: "no: its weight is 0" },
    },
    {
      name: "says that a channel is draining",
      channel: { state: "Draining" },
      want: { usable: "no: the channel is Draining" },
    },
    {
      name: "names what the channel's mapping asks for",
      channel: { models: [{ name: "*", upstreamName: "vendor/*" }] },
      want: { upstreamModel: "vendor/m" },
    },
    {
      name: "names what the target asks for, whatever the channel's mapping says",
      target: { upstreamModel: "own" },
      channel: { models: [{ name: "*", upstreamName: "vendor/*" }] },
      want: { upstreamModel: "own" },
    },
    {
      name: "names the public model where the channel's mapping has no entry for it",
      channel: { models: [{ name: "other", upstreamName: "vendor/other" }] },
      want: { upstreamModel: "m", usable: "yes" },
    },
  ] satisfies readonly Case[]) {
    it(row.name, () => {
      const { targets = [], allowed } = explained(row);
      for (const [field, value] of Object.entries(row.want)) {
        assert.equal(targets[0]?.[field as keyof ExplainedTarget], value);
      }
      assert.equal(allowed, targets[0]?.usable.startsWith("yes"));
    });
  }

  for (const row of [
    { format: "Embeddings", formats: ["EmbedContent"], usable: "yes, translated to EmbedContent" },
    { format: "EmbedContent", formats: ["EmbedContent"], usable: "yes" },
    { format: "Embeddings", formats: ["ChatCompletions"], usable: "no: the channel speaks no format of Embeddings" },
    { format: "Speech", formats: ["Speech"], usable: "yes" },
  ] as const) {
    it(`explains a call of ${row.format} to a channel of ${row.formats[0]}`, () => {
      const capabilities = ["Embeddings", "Speech"] as const;
      const channel = wireChannel("main", { formats: row.formats.map((type) => ({ type, path: "/x" })) });
      const snapshot = snapshotWith(
        wireKey("bot"),
        wireRoute("m", {
          capabilities: [...capabilities],
          targets: [{ name: "main", channel: "team-a/main", priority: 0, weight: 1 }],
        }),
        channel,
        wireCredential("main"),
      );
      const { targets = [] } = explain({ key: "team-a/bot", model: "m", format: row.format }, snapshot, 0);
      assert.equal(targets[0]?.usable, row.usable);
      const refusal = explain({ key: "team-a/bot", model: "m" }, snapshot, 0);
      assert.equal(refusal.refused, "unsupported_endpoint");
    });
  }

  it("knows the formats that the command line offers", () => {
    const settings = JSON.parse(readFileSync(new URL("../../../cli/settings.schema.json", import.meta.url), "utf8"));
    assert.deepEqual([...settings.properties.format.enum].sort(), [...explainedFormats].sort());
  });
});
