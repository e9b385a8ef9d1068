/** Libraries for Python: google-genai (below LangChain, pydantic-ai and LlamaIndex), openai, anthropic, LiteLLM. */
import { describe } from "mocha";
import { models, useClientsRig } from "../support/clients/clients-rig.ts";
import { describeReader } from "../support/clients/describe-reader.ts";
import { pythonWithPackages, usePackages } from "../support/clients/installed-packages.ts";
import type { Reader } from "../support/clients/run-reader.ts";

function reader(name: string, model: string): Reader {
  return { name: `Python ${name}`, script: "readers.py", arguments: [name], model, language: "python" };
}

describe("clients: Python", () => {
  usePackages(pythonWithPackages);
  const cell = useClientsRig();
  const all = { cell, tests: ["agent", "whole agent", "broken"] } as const;
  describeReader(reader("google-genai", models.gemini), all);
  describeReader(reader("openai chat", models.openai), all);
  describeReader(reader("openai responses", models.openai), all);
  describeReader(reader("anthropic", models.anthropic), all);
  // Three seconds to start.
  describeReader(reader("litellm gemini", models.gemini), { cell, tests: ["agent"] });
});
