/**
 * What the official SDKs do on their own after an error: they try again where waiting helps and leave it where it
 * cannot, and a stream that breaks off is never taken for a whole one.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type OpenAI from "openai-7";
import { clientKey } from "#test/support/conformance/manifests";
import { countingFetch, useSdkGateway } from "#test/support/conformance/sdk-gateway";
import { anthropicGenerations, genaiGenerations, openaiGenerations } from "#test/support/official-clients";

const messages = [{ role: "user" as const, content: "hello there" }];
const usual = { model: "demo", max_tokens: 100, messages };

describe("official SDKs: retries", function () {
  this.timeout(20_000);
  const gateway = useSdkGateway();

  for (const [index, { name, load }] of openaiGenerations.entries()) {
    const create = (key: string, http = countingFetch()): OpenAI =>
      new (load())({ baseURL: `${gateway().origin}/v1`, apiKey: clientKey(key), fetch: http.fetch });

    it(`pitfall 137: ${name} sends exactly one request when the quota is used up`, async () => {
      const http = countingFetch();
      const client = create(`spent-${index + 1}`, http);
      await client.chat.completions.create({ model: "demo", messages });
      await assert.rejects(client.chat.completions.create({ model: "demo", messages }), {
        status: 429,
        code: "insufficient_quota",
        message: /^429 insufficient quota/,
      });
      assert.equal(http.count(), 2);
    });

    it(`${name} waits as it is told when it is too fast, and is served`, async () => {
      const http = countingFetch();
      const client = create(`slow-${index + 1}`, http);
      await client.chat.completions.create({ model: "demo", messages });
      const reply = await client.chat.completions.create({ model: "demo", messages });
      assert.equal(reply.choices.length, 1);
      assert.equal(http.count(), 3);
    });

    it(`${name} does not try again where our own credential was refused`, async () => {
      const http = countingFetch();
      await assert.rejects(create("main", http).chat.completions.create({ model: "fault-401", messages }), {
        status: 503,
      });
      assert.equal(http.count(), 1);
    });

    for (const fault of ["cut", "error-event"]) {
      it(`${name} raises when a stream breaks off: ${fault}`, async () => {
        const http = countingFetch();
        const client = create("main", http);
        const model = `fault-${fault}`;
        const plain = async (stream: AsyncIterable<unknown>): Promise<void> => {
          for await (const _ of stream);
        };
        const chat = client.chat.completions;
        await assert.rejects(chat.stream({ model, messages }).finalChatCompletion());
        await assert.rejects(async () => plain(await chat.create({ model, messages, stream: true })));
        const { responses } = client;
        await assert.rejects(responses.stream({ model, input: "hello there" }).finalResponse());
        await assert.rejects(async () => plain(await responses.create({ model, input: "hello there", stream: true })));
        assert.equal(http.count(), 4, "nothing is retried after the first byte");
      });
    }
  }

  for (const [index, { name, load }] of anthropicGenerations.entries()) {
    const create = (key: string, http = countingFetch()) =>
      new (load())({ baseURL: gateway().origin, apiKey: clientKey(key), fetch: http.fetch });

    it(`pitfall 137: ${name} sends exactly one request when the quota is used up`, async () => {
      const http = countingFetch();
      const client = create(`spent-${index + 3}`, http);
      await client.messages.create(usual);
      await assert.rejects(client.messages.create(usual), { status: 402, message: /insufficient quota/ });
      assert.equal(http.count(), 2);
    });

    it(`${name} waits as it is told when it is too fast, and is served`, async () => {
      const http = countingFetch();
      const client = create(`slow-${index + 3}`, http);
      await client.messages.create(usual);
      assert.equal((await client.messages.create(usual)).type, "message");
      assert.equal(http.count(), 3);
    });

    for (const fault of ["cut", "error-event"]) {
      it(`${name} raises when a stream breaks off: ${fault}`, async () => {
        const http = countingFetch();
        const call = { ...usual, model: `fault-${fault}` };
        await assert.rejects(create("main", http).messages.stream(call).finalMessage());
        await assert.rejects(async () => {
          for await (const _ of await create("main", http).messages.create({ ...call, stream: true }));
        });
        assert.equal(http.count(), 2);
      });
    }
  }

  for (const [index, { name, load }] of genaiGenerations.entries()) {
    const create = (key: string, retrying: { retryOptions?: { attempts: number } } = {}) =>
      new (load())({
        apiKey: clientKey(key),
        httpOptions: { baseUrl: gateway().origin, ...retrying },
      });

    it(`${name} is refused when the quota is used up`, async () => {
      const client = create(`spent-${index + 5}`);
      await client.models.generateContent({ model: "demo", contents: "hello" });
      const refused = client.models.generateContent({ model: "demo", contents: "hello" });
      await assert.rejects(refused, { status: 429, message: /insufficient quota/ });
    });

    it(`${name} is served in the end when it may try again`, async () => {
      const client = create(`slow-${index + 5}`, { retryOptions: { attempts: 4 } });
      await client.models.generateContent({ model: "demo", contents: "hello" });
      const reply = await client.models.generateContent({ model: "demo", contents: "hello" });
      assert.match(reply.text ?? "", /hello/);
    });

    for (const fault of ["cut", "error-event"]) {
      it(`${name} raises when a stream breaks off: ${fault}`, async () => {
        await assert.rejects(async () => {
          const stream = await create("main").models.generateContentStream({
            model: `fault-${fault}`,
            contents: "hello there",
          });
          for await (const _ of stream);
        });
      });
    }
  }
});
