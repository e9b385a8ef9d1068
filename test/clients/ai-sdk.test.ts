/** Vercel's AI SDK 6 by its providers of four formats. */
import { describe } from "mocha";
import { models, useClientsRig } from "../support/clients/clients-rig.ts";
import { describeReader } from "../support/clients/describe-reader.ts";
import { nodePackages, usePackages } from "../support/clients/installed-packages.ts";
import type { Reader } from "../support/clients/run-reader.ts";

function reader(provider: string, model: string): Reader {
  return { name: `AI SDK 6, ${provider}`, script: "ai-sdk.ts", arguments: [provider], model, language: "node" };
}

const withFailureEvents = [
  reader("openai", models.openai),
  reader("openai-chat", models.openai),
  reader("openai-compatible", models.openai),
  reader("anthropic", models.anthropic),
];

describe("clients: AI SDK", () => {
  usePackages(nodePackages);
  const cell = useClientsRig();
  for (const one of withFailureEvents) describeReader(one, { cell, tests: ["agent", "broken"], hasErrorParts: true });
  describeReader(reader("google", models.gemini), { cell, tests: ["agent", "broken"] });
});
