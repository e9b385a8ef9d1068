/** The pipeline in front of an upstream that writes down recordings: a route for each way to be charged. */
import { type HttpAnswer, type HttpCall, httpCall } from "#test/support/conformance/http-call";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { restrictedKeyManifests } from "#test/support/conformance/restricted-keys";
import type { ScriptedReply } from "#test/support/fake-upstream";
import { wavOf } from "#test/support/sounds";

const capabilities = ["Transcription", "Translation"];

function manifests(origin: string): string {
  const formats = [{ type: "Transcriptions" }, { type: "Translations" }, { type: "ChatCompletions" }];
  const second = [{ type: "Transcriptions", path: "/second/transcriptions" }];
  const routeTo = (name: string, spec: object): object =>
    routeManifest(name, {
      capabilities,
      targets: [{ name: "main", channelRef: { name: "ears" }, upstreamModel: `${name}-upstream` }],
      ...spec,
    });
  return manifestOf(
    keyManifest("k"),
    ...restrictedKeyManifests,
    channelSecretManifest(),
    channelManifest("ears", origin, { formats }),
    channelManifest("second", origin, { formats: second }),
    channelManifest("shared", origin, { formats, upstreamObjects: "Shared" }),
    routeTo("minutes", { price: { perMinuteAudio: "0.6" } }),
    routeTo("both", { price: { perMinuteAudio: "0.6", audioInputPerMillion: "6", outputPerMillion: "10" } }),
    routeTo("tokens", { price: { inputPerMillion: "1", audioInputPerMillion: "6", outputPerMillion: "10" } }),
    routeTo("shared", {
      price: { perMinuteAudio: "0.6" },
      targets: [{ name: "main", channelRef: { name: "shared" } }],
    }),
    routeTo("pair", {
      targets: [
        { name: "first", channelRef: { name: "ears" }, priority: 0 },
        { name: "second", channelRef: { name: "second" }, priority: 1 },
      ],
      parameters: [{ name: "temperature", maximum: "0.5" }],
    }),
    routeManifest("chatter", { targets: [{ name: "main", channelRef: { name: "ears" } }] }),
  );
}

export function startTranscriptGateway(origin: string): Promise<InProcessGateway> {
  return InProcessGateway.start({ manifests: manifests(origin) });
}

export type TestPart = readonly [name: string, value: string | Buffer, filename?: string];

/** Seven seconds of silence. */
export const recording = wavOf(7, { rate: 8_000 });

export const file: TestPart = ["file", recording];
export const minutes: TestPart = ["model", "minutes"];
export const tokens: TestPart = ["model", "tokens"];
export const usual: readonly TestPart[] = [minutes, file];

/** Usage that OpenAI reports by tokens. */
export const byTokens = {
  type: "tokens",
  input_tokens: 74,
  output_tokens: 12,
  total_tokens: 86,
  input_token_details: { text_tokens: 4, audio_tokens: 70 },
};

export function json(body: object): ScriptedReply {
  return { body: JSON.stringify(body) };
}

export function text(body: string, type = "text/plain; charset=utf-8"): ScriptedReply {
  return { body, headers: { "content-type": type } };
}

export function events(...list: readonly object[]): ScriptedReply {
  return text(list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""), "text/event-stream");
}

/** A form as clients send it: a usual file and model, unless the parts say otherwise. */
export function formOf(parts: readonly TestPart[]): FormData {
  const form = new FormData();
  for (const [name, value, filename = "speech.wav"] of parts) {
    if (typeof value === "string") form.append(name, value);
    else form.append(name, new Blob([new Uint8Array(value)], { type: "audio/wav" }), filename);
  }
  return form;
}

export interface TranscriptRequest {
  readonly key?: string;
  readonly path?: string;
}

/** The call that sends a form. */
export async function transcriptCall(
  origin: string,
  parts: readonly TestPart[],
  { key = "k", path = "/v1/audio/transcriptions" }: TranscriptRequest = {},
): Promise<HttpCall> {
  const encoded = new Response(formOf(parts));
  const headers = {
    authorization: `Bearer ${clientKey(key)}`,
    "content-type": encoded.headers.get("content-type") ?? "",
  };
  return { origin, path, headers, body: Buffer.from(await encoded.arrayBuffer()) };
}

/** Sends a form. */
export async function transcribe(
  origin: string,
  parts: readonly TestPart[],
  request: TranscriptRequest = {},
): Promise<HttpAnswer> {
  return httpCall(await transcriptCall(origin, parts, request));
}
