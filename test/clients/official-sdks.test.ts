/** The official SDKs of OpenAI and Anthropic: a stream that fails raises its failure, not a broken connection. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { formatNames, key, models, useClientsRig } from "#test/support/clients/clients-rig";
import type { Scenario } from "#test/support/clients/scenario";
import { anthropicGenerations, openaiGenerations } from "#test/support/official-clients";

const fails: Scenario = () => ({ text: "Half of it", failure: "overloaded" });

/** Reads to the end. @returns what was thrown, else the last event's text */
async function failureOf(events: Promise<AsyncIterable<object>>): Promise<string> {
  let last: object = {};
  try {
    for await (const event of await events) last = event;
  } catch (error) {
    return `${error instanceof Error ? error.constructor.name : ""} ${error}`;
  }
  return JSON.stringify(last);
}

function assertOverload(told: string): void {
  assert.match(told, /overloaded/i);
  assert.doesNotMatch(told, /terminated|premature|socket|connection error/i);
}

describe("clients: official SDKs", () => {
  const cell = useClientsRig();

  for (const format of formatNames) {
    for (const { name, load } of openaiGenerations) {
      const client = (origin: string) => new (load())({ apiKey: key, baseURL: `${origin}/v1`, maxRetries: 0 });

      it(`pitfall 166: ${name} raises the failure of a chat stream over ${format}`, async () => {
        const { chat } = client(cell(format).play(fails).origin);
        const messages = [{ role: "user" as const, content: "hi" }];
        assertOverload(await failureOf(chat.completions.create({ model: models.openai, messages, stream: true })));
      });

      it(`pitfall 166: ${name} reads the failure of a response over ${format}`, async () => {
        const { responses } = client(cell(format).play(fails).origin);
        const call = { model: models.openai, input: "hi", stream: true, store: false } as const;
        assertOverload(await failureOf(responses.create(call)));
      });
    }

    for (const { name, load } of anthropicGenerations) {
      it(`pitfall 166: ${name} raises the failure of a message over ${format}`, async () => {
        const { origin } = cell(format).play(fails);
        const client = new (load())({ apiKey: key, baseURL: origin, maxRetries: 0 });
        const messages = [{ role: "user" as const, content: "hi" }];
        const call = { model: models.anthropic, max_tokens: 100, messages, stream: true } as const;
        assertOverload(await failureOf(client.messages.create(call)));
      });
    }
  }
});
