/** Google's older libraries for JavaScript, each with a reader of streams of its own that takes less than the newest. */
import { describe } from "mocha";
import { models, useClientsRig } from "#test/support/clients/clients-rig";
import { describeReader } from "#test/support/clients/describe-reader";
import { nodePackages, usePackages } from "#test/support/clients/installed-packages";
import type { Reader } from "#test/support/clients/run-reader";

const usual = { model: models.gemini, language: "node", arguments: [] } as const;
const genai: Reader = { ...usual, name: "@google/genai 1.30", script: "google-genai.ts" };
const generativeAi: Reader = { ...usual, name: "@google/generative-ai 0.24", script: "google-generative-ai.ts" };

describe("clients: Google's libraries", () => {
  usePackages(nodePackages);
  const cell = useClientsRig();
  describeReader(genai, { cell, tests: ["agent", "whole agent", "plain", "broken"] });
  describeReader(generativeAi, { cell, tests: ["whole agent", "plain", "broken"] });
});
