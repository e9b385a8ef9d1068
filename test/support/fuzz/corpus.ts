/**
 * What a fuzzer begins with: requests, replies and streams of each format, from the goldens of translation and, where
 * it is present, from recorded traffic.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { isObject } from "#proxy/json/json-value";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import type { DigestProtocol } from "#test/support/digest/facts";
import { readRecorded } from "#test/support/digest/recorded";
import { formats } from "#test/support/translation/pure-translation";
import { Vocabulary } from "./mutate-json.ts";
import { documentsOf, eventsOf } from "./mutate-stream.ts";

export interface Corpus {
  readonly requests: readonly object[];
  readonly replies: readonly object[];
  /** Each as its events. */
  readonly streams: readonly (readonly Buffer[])[];
  readonly vocabulary: Vocabulary;
}

const goldens = path.resolve(import.meta.dirname, "../../golden/translation");

const formatOf: Readonly<Record<DigestProtocol, ChatWireFormat>> = {
  "openai-chat": "ChatCompletions",
  "openai-responses": "Responses",
  "anthropic-messages": "Messages",
  gemini: "GenerateContent",
};

/** Longer documents only make each case slower. */
const documentBytesMax = 64 * 1024;

export function readCorpora(): Readonly<Record<ChatWireFormat, Corpus>> {
  const found = {
    ChatCompletions: { requests: [], replies: [], streams: [] },
    Responses: { requests: [], replies: [], streams: [] },
    Messages: { requests: [], replies: [], streams: [] },
    GenerateContent: { requests: [], replies: [], streams: [] },
  } satisfies Record<ChatWireFormat, unknown>;
  const corpora: Record<ChatWireFormat, { requests: object[]; replies: object[]; streams: (readonly Buffer[])[] }> =
    found;
  for (const [format, given] of goldensIn("requests")) if (isObject(given)) corpora[format].requests.push(given);
  for (const [format, given] of goldensIn("replies")) {
    if (isObject(given)) corpora[format].replies.push(given);
    else if (typeof given === "string") corpora[format].streams.push(eventsOf(Buffer.from(given)));
  }
  for (const reply of readRecorded() ?? []) {
    const corpus = corpora[formatOf[reply.protocol]];
    const bytes = reply.bytes();
    const request = objectOf(reply.request());
    if (request !== undefined) corpus.requests.push(request);
    if (reply.isStream) corpus.streams.push(eventsOf(bytes.subarray(0, documentBytesMax)));
    else {
      const whole = objectOf(bytes);
      if (whole !== undefined) corpus.replies.push(whole);
    }
  }
  return {
    ChatCompletions: withVocabulary(corpora.ChatCompletions),
    Responses: withVocabulary(corpora.Responses),
    Messages: withVocabulary(corpora.Messages),
    GenerateContent: withVocabulary(corpora.GenerateContent),
  };
}

function withVocabulary(corpus: Omit<Corpus, "vocabulary">): Corpus {
  const documents = [...corpus.requests, ...corpus.replies, ...corpus.streams.flatMap(documentsOf)];
  return { ...corpus, vocabulary: new Vocabulary(documents) };
}

/** What each golden of a folder gives for each format. */
function goldensIn(folder: string): readonly (readonly [ChatWireFormat, unknown])[] {
  return readdirSync(path.join(goldens, folder)).flatMap((file) => {
    const golden: unknown = parse(readFileSync(path.join(goldens, folder, file), "utf8"));
    const given = isObject(golden) ? golden["given"] : undefined;
    return isObject(given) ? formats.map((format) => [format, given[format]] as const) : [];
  });
}

function objectOf(bytes: Buffer | undefined): object | undefined {
  if (bytes === undefined || bytes.length > documentBytesMax) return undefined;
  const value: unknown = JSON.parse(bytes.toString("utf8"));
  return isObject(value) ? value : undefined;
}
