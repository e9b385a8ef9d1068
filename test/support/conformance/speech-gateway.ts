/** The pipeline in front of an upstream that speaks: a route for each way to be charged, and keys with restrictions. */
import { type HttpAnswer, type HttpCall, httpCall } from "#test/support/conformance/http-call";
import { InProcessGateway, type InProcessOptions } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { restrictedKeyManifests } from "#test/support/conformance/restricted-keys";
import { at } from "#test/support/digest/facts";
import type { ScriptedReply } from "#test/support/fake-upstream";

const capabilities = ["Speech"];

function routeTo(channel: string, name: string, spec: object = {}): object {
  const targets = [{ name: "main", channelRef: { name: channel }, upstreamModel: `${name}-upstream` }];
  return routeManifest(name, { capabilities, targets, ...spec });
}

/** Prices of routes that lead to a server of OpenAI-style speech. */
export const speechPrices = {
  letters: { perMillionCharacters: "15", perRequest: "0.001" },
  minutes: { perMinuteAudio: "0.6" },
  tokens: { inputPerMillion: "1", audioOutputPerMillion: "12" },
} as const;

function manifests(origin: string): string {
  const speaks = [{ type: "Speech" }];
  return manifestOf(
    keyManifest("k"),
    ...restrictedKeyManifests,
    channelSecretManifest(),
    channelManifest("voice", origin, { formats: [...speaks, { type: "ChatCompletions" }] }),
    channelManifest("shared", origin, { formats: speaks, upstreamObjects: "Shared" }),
    channelManifest("second", origin, { formats: [{ type: "Speech", path: "/second/speech" }] }),
    channelManifest("strict", origin, {
      provider: "Gemini",
      baseURL: origin,
      formats: undefined,
      unsupportedParameters: "Reject",
    }),
    channelManifest("gemini", origin, { provider: "Gemini", baseURL: origin, formats: undefined }),
    ...Object.entries(speechPrices).map(([name, price]) => routeTo("voice", name, { price })),
    routeTo("shared", "shared"),
    routeTo("gemini", "gemini", { price: speechPrices.tokens }),
    routeTo("gemini", "gemini-minutes", { price: speechPrices.minutes }),
    routeTo("strict", "strict"),
    routeManifest("chatter", { targets: [{ name: "main", channelRef: { name: "voice" } }] }),
    routeTo("voice", "pair", {
      targets: [
        { name: "first", channelRef: { name: "voice" }, priority: 0 },
        { name: "second", channelRef: { name: "second" }, priority: 1 },
      ],
      parameters: [{ name: "speed", maximum: "2" }],
    }),
  );
}

/** @param limits those of a proxy unless given */
export function startSpeechGateway(origin: string, limits: InProcessOptions["limits"] = {}): Promise<InProcessGateway> {
  return InProcessGateway.start({ manifests: manifests(origin), limits });
}

export interface SpeechRequest {
  readonly key?: string;
  readonly path?: string;
}

/** The call that asks for speech. @param body JSON text, or members beside a usual model and input */
export function speechCall(
  origin: string,
  body: object | string,
  { key = "k", path = "/v1/audio/speech" }: SpeechRequest = {},
): HttpCall {
  return {
    origin,
    path,
    headers: { authorization: `Bearer ${clientKey(key)}`, "content-type": "application/json" },
    body:
      typeof body === "string"
        ? body
        : JSON.stringify({ model: "letters", input: "Hello you", voice: "alloy", ...body }),
  };
}

/** Asks for speech. */
export function speak(origin: string, body: object | string, request: SpeechRequest = {}): Promise<HttpAnswer> {
  return httpCall(speechCall(origin, body, request));
}

/** What the events of a reply report. */
export const usage = { input_tokens: 14, output_tokens: 101, total_tokens: 115 };

/** Sound of an upstream. */
export function reply(body: Buffer, type = "audio/mpeg", script: Partial<ScriptedReply> = {}): ScriptedReply {
  return { body, headers: { "content-type": type }, ...script };
}

/** Sound of an upstream in events. @param done the last of them; null: it never comes */
export function eventsOf(
  pieces: readonly Buffer[],
  done: object | null = { type: "speech.audio.done", usage },
): Buffer {
  const deltas = pieces.map((piece) => ({ type: "speech.audio.delta", audio: piece.toString("base64") }));
  const events = done === null ? deltas : [...deltas, done];
  return Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
}

/** The data of each event of a response. */
export function dataOf(stream: Buffer): readonly unknown[] {
  const lines = stream.toString().split("\n");
  return lines.filter((line) => line.startsWith("data: ")).map((line) => JSON.parse(line.slice(6)));
}

/** The sound in the events of a response. */
export function heardOf(stream: Buffer): Buffer {
  return Buffer.concat(dataOf(stream).map((event) => Buffer.from(String(at(event, "audio") ?? ""), "base64")));
}
