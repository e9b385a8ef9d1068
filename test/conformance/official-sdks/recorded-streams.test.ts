/**
 * Every recorded stream through the gateway to the official SDKs, two generations each: their helpers, which are
 * stricter than any reader of ours, take it and find its text; a stream that failed raises.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { cuts, replay } from "#test/support/conformance/replay";
import { digest } from "#test/support/digest/digest";
import { at, list, text } from "#test/support/digest/facts";
import { explainAbsence, type Recorded, readRecorded } from "#test/support/digest/recorded";
import { FakeUpstream } from "#test/support/fake-upstream";
import { anthropicGenerations, genaiGenerations, openaiGenerations } from "#test/support/official-clients";

const streams = readRecorded()?.filter(({ isStream }) => isStream);
const messages = [{ role: "user" as const, content: "hi" }];
const apiKey = clientKey("main");

type Read = (origin: string) => Promise<string>;

/** Some providers send lists of parts where the SDK knows texts. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return list(content)
    .map((part) => (at(part, "type") === "text" ? text(at(part, "text")) : ""))
    .join("");
}

/** By protocol: each generation's own way to read a stream to its end. @returns the visible text */
const readers: Readonly<Record<Recorded["protocol"], readonly { readonly name: string; readonly read: Read }[]>> = {
  "openai-chat": openaiGenerations.map(({ name, load }) => ({
    name,
    read: async (origin) => {
      const client = new (load())({ baseURL: `${origin}/v1`, apiKey, maxRetries: 0 });
      let all = "";
      for await (const chunk of await client.chat.completions.create({ model: "recorded", messages, stream: true })) {
        const [choice] = chunk.choices;
        if (choice?.index === 0) all += textOf(choice.delta?.content) + (choice.delta?.refusal ?? "");
      }
      return all;
    },
  })),
  "openai-responses": openaiGenerations.map(({ name, load }) => ({
    name,
    read: async (origin) => {
      const client = new (load())({ baseURL: `${origin}/v1`, apiKey, maxRetries: 0 });
      const stream = await client.responses.create({ model: "recorded", input: "hi", stream: true });
      let all = "";
      for await (const event of stream) {
        if (event.type === "response.output_text.delta" || event.type === "response.refusal.delta") all += event.delta;
      }
      return all;
    },
  })),
  "anthropic-messages": anthropicGenerations.map(({ name, load }) => ({
    name,
    read: async (origin) => {
      const client = new (load())({ baseURL: origin, apiKey, maxRetries: 0 });
      const final = await client.messages.stream({ model: "recorded", max_tokens: 9, messages }).finalMessage();
      return final.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    },
  })),
  gemini: genaiGenerations.map(({ name, load }) => ({
    name,
    read: async (origin) => {
      const client = new (load())({ apiKey, httpOptions: { baseUrl: origin } });
      let all = "";
      for await (const chunk of await client.models.generateContentStream({ model: "recorded", contents: "hi" })) {
        for (const part of chunk.candidates?.[0]?.content?.parts ?? [])
          if (part.thought !== true) all += part.text ?? "";
      }
      return all;
    },
  })),
};

/** What OpenAI's accumulating helpers refuse because the recorded provider itself breaks off from its dialect. */
const helperRefuses: Readonly<Record<string, RegExp>> = {
  // The file was adapted by its origin: its items have no ids.
  "openai-responses/stream-refusal": /item id|missing content/,
  // The relay gives the response another id in every event; only the newer generation minds.
  "openai-responses/stream-anomaly-rotating-ids": /identity changed/,
  "openai-chat/stream-tool-incremental-mistral": /missing role/,
  "openai-chat/stream-tool-index-from-one": /undefined/,
};

/** Reads by the helper that accumulates a final message. */
async function accumulate(load: (typeof openaiGenerations)[number]["load"], origin: string, reply: Recorded) {
  const client = new (load())({ baseURL: `${origin}/v1`, apiKey, maxRetries: 0 });
  if (reply.protocol === "openai-chat")
    await client.chat.completions.stream({ model: "recorded", messages }).finalChatCompletion();
  else await client.responses.stream({ model: "recorded", input: "hi" }).finalResponse();
}

describe("official SDKs: recorded streams", () => {
  if (streams === undefined) {
    it(explainAbsence("official SDKs: recorded streams"));
    return;
  }
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;

  before(async () => {
    upstream = await FakeUpstream.start();
    gateway = await InProcessGateway.start({
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("main"),
        channelManifest("recorded", upstream.origin),
        routeManifest("recorded", { failover: { maxAttempts: 1 } }),
      ),
    }).catch(async (error: unknown) => {
      await upstream.close();
      throw error;
    });
  });
  after(async () => {
    await gateway?.close();
    await upstream.close();
  });

  for (const reply of streams) {
    for (const { name, read } of readers[reply.protocol]) {
      it(`${name} reads ${reply.id.replace(/^upstream\//, "")}`, async () => {
        const said = digest(reply.protocol, reply.bytes());
        for (const { pieces } of cuts.filter((cut) => cut.name === "whole" || cut.name === "in random pieces")) {
          upstream.replyWith(replay(reply, pieces(reply.bytes().length)));
          if (said.status === "error") await assert.rejects(read(gateway.origin));
          else assert.equal(await read(gateway.origin), said.text + said.refusal);
        }
      });
    }
  }

  for (const reply of streams.filter(({ protocol }) => protocol.startsWith("openai-"))) {
    const shortId = reply.id.replace(/^upstream\//, "");
    for (const { name, load } of openaiGenerations) {
      it(`${name} accumulates ${shortId}`, async () => {
        upstream.replyWith(replay(reply, () => Number.MAX_SAFE_INTEGER));
        const accumulated = accumulate(load, gateway.origin, reply);
        const refusal = helperRefuses[shortId];
        if (reply.expected["status"] === "error") await assert.rejects(accumulated);
        else if (refusal === undefined || (name === "openai 6" && refusal.source === "identity changed"))
          await accumulated;
        else await assert.rejects(accumulated, refusal);
      });
    }
  }
});
