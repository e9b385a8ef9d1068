/** Google's older libraries for JavaScript, each with a reader of streams of its own that takes less than the newest. */
import { describe } from "mocha";
import { models, useClientsRig } from "../support/clients/clients-rig.ts";
import { describeReader } from "../support/clients/describe-reader.ts";
import { nodePackages, usePackages } from "../support/clients/installed-packages.ts";
import type { Reader } from "../support/clients/run-reader.ts";

const usual = { model: models.gemini, language: "node", arguments: [] } as const;
const genai: Reader = { ...usual, name: "@google/genai 1.30", script: "google-genai.ts" };
const generativeAi: Reader = { ...usual, name: "@google/generative-ai 0.24", script: "google-generative-ai.ts" };

describe("clients: Google's libraries", () => {
  usePackages(nodePackages);
  const cell = useClientsRig();
  describeReader(genai, { cell, tests: ["agent", "whole agent", "plain", "broken"] });
  describeReader(generativeAi, { cell, tests: ["whole agent", "plain", "broken"] });
});
