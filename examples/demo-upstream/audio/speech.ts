/** `POST /v1/audio/speech`: a text as a tune, WAV or raw PCM. */
import { writeError } from "#examples/demo-upstream/chat-completions";
import { type DemoEndpoint, eventsReply } from "#examples/demo-upstream/endpoint";
import { BadRequest } from "#examples/demo-upstream/format";
import { choice, numberBetween, requiredText } from "#examples/demo-upstream/http/read-option";
import { tuneOf } from "./tune.ts";
import { bytesPerSample, sampleRate, wavHeader } from "./wav.ts";

/** As OpenAI's. */
const inputCharactersMax = 4096;
/** A quarter of a second. */
const pieceBytes = (sampleRate * bytesPerSample) / 4;
const tokensPerSecond = 20;

export const speech: DemoEndpoint = {
  path: /^\/v1\/audio\/speech$/,
  keyHeader: "bearer",
  writeError,
  reply: ({ body, model }) => {
    if (model === undefined) throw new BadRequest("model", "you must provide a model parameter");
    const input = requiredText(body, "input");
    if (input.length > inputCharactersMax)
      throw new BadRequest("input", `Invalid 'input': at most ${inputCharactersMax} characters.`);
    // OpenAI's default is mp3, which needs an encoder.
    const format = choice(body, "response_format", ["wav", "pcm"], "wav");
    const isEvents = choice(body, "stream_format", ["audio", "sse"], "audio") === "sse";
    const pcm = tuneOf(input, numberBetween(body, "speed", 0.25, 4) ?? 1);
    const bytes = format === "wav" ? Buffer.concat([wavHeader(pcm.length), pcm]) : pcm;
    const pieces = cut(bytes);
    if (!isEvents) return { kind: "streamed", contentType: `audio/${format}`, pieces };
    const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
    const inputTokens = Math.ceil(input.length / 4);
    const outputTokens = Math.ceil((pcm.length / (sampleRate * bytesPerSample)) * tokensPerSecond);
    const usage = {
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
    };
    return eventsReply(
      [
        ...pieces.map((piece) => event({ type: "speech.audio.delta", audio: piece.toString("base64") })),
        event({ type: "speech.audio.done", usage }),
      ],
      event({ type: "error", error: { type: "server_error", message: "The demo upstream was asked to fail." } }),
    );
  },
};

function cut(bytes: Buffer): readonly Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) =>
    bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes),
  );
}
