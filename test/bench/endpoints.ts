/**
 * Lists the loads of endpoints that are no chat: calls whose upstream speaks the client's form.
 *
 * A row gets a channel whose upstream is `/ANSWER/v1`, and a route of the model that its body names. What the upstream
 * replies under that name is in `upstream.mjs`.
 */
import { wavOf } from "#test/support/sounds";
import type { Scenario } from "./scenario.ts";

export interface EndpointScenario extends Scenario {
  readonly body: { readonly model: string; readonly [member: string]: unknown };
  readonly path: string;
  readonly capability: string;
  /** Of the channel, in YAML, with what belongs to it. */
  readonly format: string;
}

const asFastAsBare = { unit: "request", measure: "requests per CPU second", limit: 0.75, kind: "speed" } as const;
const embeddings = { path: "/v1/embeddings", capability: "Embeddings", format: "Embeddings", ...asFastAsBare } as const;
const completions = { path: "/v1/completions", capability: "Completion", format: "Completions" } as const;
const images = {
  path: "/v1/images/generations",
  capability: "ImageGeneration",
  format: "ImageGenerations",
  ...asFastAsBare,
} as const;
const rerank = { path: "/v1/rerank", capability: "Rerank", format: "Rerank", ...asFastAsBare } as const;
const text = "A long document has many words in it, and some of them repeat. ".repeat(8).slice(0, 500);

export const endpointScenarios: readonly EndpointScenario[] = [
  {
    name: "embeddings, one short input",
    answer: "embedding",
    body: { model: "bench-embedding", input: "What is a gateway?" },
    connections: 16,
    ...embeddings,
  },
  {
    name: "embeddings, 100 inputs of 500 bytes",
    answer: "embeddings",
    body: { model: "bench-embeddings", input: Array(100).fill(text) },
    connections: 8,
    ...embeddings,
  },
  {
    name: "embeddings, 100 inputs of 500 bytes, base64",
    answer: "embeddings-base64",
    body: { model: "bench-embeddings-base64", input: Array(100).fill(text), encoding_format: "base64" },
    connections: 8,
    ...embeddings,
  },
  {
    name: "completions 1 KB",
    answer: "completion",
    body: { model: "bench-completion", prompt: text.repeat(2), max_tokens: 200 },
    connections: 16,
    ...completions,
    ...asFastAsBare,
  },
  {
    name: "completions, streaming",
    answer: "completion-stream",
    body: {
      model: "bench-completion-stream",
      prompt: text.repeat(2),
      max_tokens: 200,
      stream: true,
      stream_options: { include_usage: true },
    },
    connections: 32,
    ...completions,
    unit: "chunk",
    measure: "CPU per chunk",
    limit: 1.2,
    kind: "cost",
  },
  {
    name: "rerank, 100 documents of 500 bytes",
    answer: "ranking",
    body: { model: "bench-ranking", query: "What is a gateway?", documents: Array(100).fill(text) },
    connections: 8,
    ...rerank,
  },
  {
    name: "images, an address",
    answer: "picture-address",
    body: { model: "bench-picture-address", prompt: text },
    connections: 16,
    ...images,
  },
  {
    name: "images, a picture of 1 MB",
    answer: "picture",
    body: { model: "bench-picture", prompt: text },
    connections: 4,
    ...images,
  },
  {
    name: "passed on, 1 KB",
    answer: "passed",
    body: { model: "bench-passed", text: text.repeat(2) },
    connections: 16,
    path: "/v1/passthrough/bench-passed/work",
    capability: "Passthrough",
    format: "Passthrough, paths: [/work]",
    ...asFastAsBare,
  },
  {
    name: "speech, 48 KB of sound",
    answer: "speech",
    body: { model: "bench-speech", input: text, voice: "alloy" },
    path: "/v1/audio/speech",
    capability: "Speech",
    format: "Speech",
    connections: 16,
    ...asFastAsBare,
  },
  {
    name: "transcription of 64 KB",
    answer: "transcription",
    body: { model: "bench-transcription" },
    file: wavOf(4, { rate: 8_000 }),
    path: "/v1/audio/transcriptions",
    capability: "Transcription",
    format: "Transcriptions",
    connections: 16,
    ...asFastAsBare,
  },
];
