/** Libraries for Python: google-genai (below LangChain, pydantic-ai and LlamaIndex), openai, anthropic, LiteLLM. */
import { describe } from "mocha";
import { models, useClientsRig } from "#test/support/clients/clients-rig";
import { describeReader } from "#test/support/clients/describe-reader";
import { pythonWithPackages, usePackages } from "#test/support/clients/installed-packages";
import type { Reader } from "#test/support/clients/run-reader";

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
