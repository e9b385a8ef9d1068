import assert from "node:assert/strict";
import { chatTraitsOf as chatTraits } from "#proxy/neutral/traits/chat-traits";
import { bareModelName } from "#proxy/neutral/traits/openai-models";
import { responsesTraitsOf as responsesTraits } from "#proxy/neutral/traits/responses-traits";

const privacy = {
  store: "PassThrough",
  safetyIdentifier: "Forward",
  streamObfuscation: "Strip",
  clientMetadata: "Forward",
} as const;

describe("what OpenAI's models take in either of its formats", () => {
  for (const row of [
    { model: "gpt-5.4", verbosity: true, custom: true },
    { model: "my-deployment", verbosity: true, custom: true },
    { model: "gpt-5-codex", verbosity: true, custom: true },
    { model: "gpt-5-chat-latest", verbosity: false, custom: true },
    { model: "gpt-5.1-chat-latest", verbosity: false, custom: true },
    { model: "codex-mini-latest", verbosity: false, custom: true },
    { model: "o3", verbosity: false, custom: false },
    { model: "gpt-4o", verbosity: false, custom: false },
    { model: "gpt-4.1-mini", verbosity: false, custom: false },
    { model: "gpt-4", verbosity: false, custom: false },
    { model: "gpt-3.5-turbo", verbosity: false, custom: false },
    { model: "chatgpt-4o-latest", verbosity: false, custom: false },
    { model: "gpt-5-search-api", verbosity: false, custom: false },
    { model: "ft:gpt-4o-mini:me::1", verbosity: false, custom: false },
  ]) {
    it(`${row.model}: ${row.verbosity ? "" : "no "}verbosity, ${row.custom ? "" : "no "}custom tools`, () => {
      const channel = { provider: "OpenAI", baseURL: "https://api.example/v1", privacy } as const;
      for (const traitsOf of [chatTraits, responsesTraits]) {
        const { takesVerbosity, takesCustomTools } = traitsOf({ channel, upstreamModel: row.model });
        assert.deepEqual(
          { takesVerbosity, takesCustomTools },
          { takesVerbosity: row.verbosity, takesCustomTools: row.custom },
        );
      }
    });
  }

  it("a name is known without its vendor and whoever tuned it", () => {
    assert.equal(bareModelName("openai/GPT-4o"), "gpt-4o");
    assert.equal(bareModelName("ft:gpt-4o:me"), "gpt-4o:me");
  });
});
