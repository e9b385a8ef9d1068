import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import type { ChatEndpoint } from "#proxy/formats/format";
import { generateContentClientTranslator } from "#proxy/formats/generate-content/translate/client-translator";
import { parseJsonText } from "#proxy/json/json-text";
import { isObject } from "#proxy/json/json-value";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import type { Conversation, Part } from "#proxy/neutral/conversation";
import { replayReply } from "#proxy/neutral/replay-reply";
import type { ReplyEvent } from "#proxy/neutral/reply";
import { clientTranslators, upstreamTranslators } from "#proxy/translate/translators";
import { parseReply } from "#test/support/digest/parse-reply";
import { explainAbsence, type Recorded, readRecorded } from "#test/support/digest/recorded";
import { publishedGeminiSchemas } from "#test/support/translation/published-gemini-schemas";
import { contextOf, streamOf, targetOf, writeFor } from "./replay.ts";

const validate = publishedGeminiSchemas();
const recorded = readRecorded() ?? [];

const endpoints = {
  "openai-chat": { protocol: "OpenAI", format: "ChatCompletions", capability: "Chat" },
  "openai-responses": { protocol: "OpenAI", format: "Responses", capability: "Chat" },
  "anthropic-messages": { protocol: "Anthropic", format: "Messages", capability: "Chat" },
  gemini: { protocol: "Gemini", format: "GenerateContent", capability: "Chat", modelInPath: "m" },
} as const satisfies Record<Recorded["protocol"], ChatEndpoint>;

const models = ["gemini-3.5-flash", "gemini-2.5-pro", "gemini-2.0-flash", "gemma-3-27b-it"] as const;

describe("what generateContent is sent and sends, by Google's own document", () => {
  if (validate === undefined || recorded.length === 0) {
    it(explainAbsence("Google's document"));
    return;
  }

  for (const one of recorded.filter((candidate) => candidate.request() !== undefined)) {
    it(`the request of ${one.id} is one that Google knows, or is refused`, () => {
      const conversation = conversationOf(one);
      if (conversation === undefined) return;
      for (const model of models) {
        const body = bodyOf(conversation, model);
        if (body !== undefined) assert.deepEqual(validate("request", JSON.parse(JSON.stringify(body))), [], model);
      }
    });
  }

  for (const one of recorded.filter(({ expected }) => expected["status"] === "ok")) {
    it(`the reply of ${one.id} is one of Google's, streamed and whole`, () => {
      const context = contextOf({ reasoning: { mode: "on", show: true }, sampling: { logprobs: true } }, "array");
      const events = eventsOf(one);
      const frames: unknown[] = JSON.parse(streamOf(events, context));
      for (const frame of frames) assert.deepEqual(validate("reply", frame), []);
      const whole = generateContentClientTranslator.writeReply(aggregateReply(events), context);
      assert.deepEqual(validate("reply", JSON.parse(JSON.stringify(whole))), []);
    });
  }
});

/** Undefined where the format itself refuses to carry the call to any other. */
function conversationOf(one: Recorded): Conversation | undefined {
  const endpoint = endpoints[one.protocol];
  const body = parseJsonText((one.request() ?? Buffer.alloc(0)).toString());
  assert.ok(isObject(body));
  return orRefused(() => downloaded(clientTranslators[endpoint.format].readRequest(body, endpoint)));
}

function bodyOf(conversation: Conversation, model: string): unknown {
  return orRefused(() => writeFor(conversation, targetOf(model)).body);
}

function orRefused<Value>(make: () => Value): Value | undefined {
  try {
    return make();
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    return undefined;
  }
}

/** Addresses as if they had been fetched. */
function downloaded(conversation: Conversation): Conversation {
  const fetched = (part: Part): Part =>
    part.kind === "media" && part.source.type === "url"
      ? { ...part, mime: part.mime ?? "image/png", source: { type: "data", base64: "iVBORw0KGgo=" } }
      : part;
  return { ...conversation, turns: conversation.turns.map((turn) => ({ ...turn, parts: turn.parts.map(fetched) })) };
}

function eventsOf(one: Recorded): readonly ReplyEvent[] {
  const translator = upstreamTranslators[endpoints[one.protocol].format];
  const { events, body } = parseReply(one.bytes());
  const listed = events ?? (Array.isArray(body) ? body.map((json: unknown) => ({ name: undefined, json })) : undefined);
  if (listed === undefined) {
    assert.ok(isObject(body));
    return [...replayReply(translator.readReply(body))];
  }
  const reader = translator.createStreamReader();
  const read = listed.flatMap(({ name, json }) => reader.read({ name, data: JSON.stringify(json) }));
  return [...read, ...reader.end()];
}
