/** Vercel's AI SDK 6 by its providers of four formats. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { models, useClientsRig } from "#test/support/clients/clients-rig";
import { describeReader } from "#test/support/clients/describe-reader";
import { nodePackages, usePackages } from "#test/support/clients/installed-packages";
import { type Reader, readThrough } from "#test/support/clients/run-reader";
import { agentScenario } from "#test/support/clients/scenario";

function reader(provider: string, model: string): Reader {
  return { name: `AI SDK 6, ${provider}`, script: "ai-sdk.ts", arguments: [provider], model, language: "node" };
}

const withFailureEvents = [
  reader("openai", models.openai),
  reader("openai-chat", models.openai),
  reader("openai-compatible", models.openai),
  reader("anthropic", models.anthropic),
];

describe("clients: AI SDK", function () {
  this.timeout(40_000);
  usePackages(nodePackages);
  const cell = useClientsRig();
  for (const one of withFailureEvents) describeReader(one, { cell, tests: ["agent", "broken"], hasErrorParts: true });
  const google = reader("google", models.gemini);
  describeReader(google, { cell, tests: ["agent", "broken"] });

  for (const one of [...withFailureEvents.slice(0, 2), google]) {
    for (const isStream of [true, false]) {
      const how = isStream ? "streamed" : "whole";
      it(`pitfall 168: ${one.name} forces a function of a Claude that refuses that, ${how}`, async () => {
        const { upstream } = cell("Messages").play(agentScenario((word) => ({ name: "step", arguments: { word } })));
        const told = await readThrough(one, cell("Messages"), { isStream, hasTool: true, isForced: true });
        assert.deepEqual([upstream.refusals, told.error], [[], undefined], JSON.stringify(told));
        assert.match(told.text, /All done:.*did gamma/);
      });
    }
  }
});
