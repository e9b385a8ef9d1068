/** Details of a wish that the other format cannot say: dropped with their names, or refused, never silently. */
import assert from "node:assert/strict";
import { GatewayError } from "../../../../proxy/errors.ts";
import type { ChatWireFormat } from "../../../../proxy/protocols/wire.ts";
import { readClientRequest } from "../../../../proxy/translate/translation.ts";
import { readCallOf, smallestCalls, translate } from "../../../support/translation/pure-translation.ts";

const chat = (members: object): object => ({ ...smallestCalls.ChatCompletions, ...members });
const google = (generationConfig: object): object => ({ ...smallestCalls.GenerateContent, generationConfig });
const speech = (format: string): object =>
  chat({ modalities: ["text", "audio"], audio: { voice: "Kore", format }, store: undefined });

const picture = (mediaResolution: number): object => ({
  contents: [
    { role: "user", parts: [{ inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" }, mediaResolution }] },
  ],
});

const validated = {
  tools: [
    {
      functionDeclarations: [
        { name: "f", parametersJsonSchema: { type: "object", properties: { a: { type: "string" } } } },
      ],
    },
  ],
  toolConfig: { functionCallingConfig: { mode: "VALIDATED" } },
};

const cases: readonly (readonly [
  name: string,
  from: ChatWireFormat,
  to: ChatWireFormat,
  body: object,
  dropped: readonly string[],
])[] = [
  ["a form of audio", "ChatCompletions", "GenerateContent", speech("mp3"), ["audio.format"]],
  ["a file of audio, which is made of what Google gives", "ChatCompletions", "GenerateContent", speech("wav"), []],
  [
    "a file of audio in a stream",
    "ChatCompletions",
    "GenerateContent",
    { ...speech("wav"), stream: true },
    ["audio.format"],
  ],
  ["the form of audio that Google gives", "ChatCompletions", "GenerateContent", speech("pcm16"), []],
  ["a count without its switch", "ChatCompletions", "GenerateContent", chat({ top_logprobs: 3 }), ["top_logprobs"]],
  ["a count of none", "ChatCompletions", "GenerateContent", chat({ top_logprobs: 0 }), []],
  ["a count with its switch", "ChatCompletions", "GenerateContent", chat({ logprobs: true, top_logprobs: 3 }), []],
  [
    "Google's count without its switch",
    "GenerateContent",
    "ChatCompletions",
    google({ logprobs: 4 }),
    ["generationConfig.logprobs"],
  ],
  ...(["ChatCompletions", "Responses", "Messages"] as const).map(
    (to) =>
      [
        `the language of a voice, by ${to}`,
        "GenerateContent",
        to,
        google({ speechConfig: { languageCode: "de-DE" } }),
        ["generationConfig.speechConfig.languageCode"],
      ] as const,
  ),
  [
    "a voice for nobody to hear",
    "ChatCompletions",
    "Responses",
    chat({ audio: { voice: "v" }, modalities: ["text"] }),
    ["audio"],
  ],
  [
    "a picture's resolution by the number of none",
    "GenerateContent",
    "Responses",
    picture(9),
    ["contents[0].parts[0].mediaResolution"],
  ],
  ...(["ChatCompletions", "Responses"] as const).map(
    (to) =>
      [
        `calls that are validated against a schema which is not strict, by ${to}`,
        "GenerateContent",
        to,
        { ...smallestCalls.GenerateContent, ...validated },
        ["toolConfig.functionCallingConfig.mode"],
      ] as const,
  ),
];

describe("details that another format cannot say", () => {
  for (const [name, from, to, body, dropped] of cases) {
    const read = () => readClientRequest(readCallOf(from, Buffer.from(JSON.stringify(body)), false));
    it(`${dropped.length > 0 ? "are dropped by name, or refused" : "are none"}: ${name}`, () => {
      assert.deepEqual(translate(read(), to, "Ignore").dropped, dropped);
      if (dropped.length === 0) translate(read(), to, "Reject");
      else {
        assert.throws(
          () => translate(read(), to, "Reject"),
          (error) => error instanceof GatewayError && error.message.includes(`'${dropped[0]}'`),
        );
      }
    });
  }
});
