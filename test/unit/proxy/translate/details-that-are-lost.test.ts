/** Details of a wish that the other format cannot say: dropped with their names, or refused, never silently. */
import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { readTranslatableCall } from "#proxy/translate/translation";
import { readCallOf, smallestCalls, translate } from "#test/support/translation/pure-translation";

const chat = (members: object): object => ({ ...smallestCalls.ChatCompletions, ...members });
const google = (generationConfig: object): object => ({ ...smallestCalls.GenerateContent, generationConfig });
const speech = (format: string): object =>
  chat({ modalities: ["text", "audio"], audio: { voice: "Kore", format }, store: undefined });

const schema = { type: "object", properties: {}, additionalProperties: false };
const message = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "hi" }] };

/** Beside what is known of an object that is read. */
const unknownMembers = [
  [
    "unknown members of an answer's form",
    "ChatCompletions",
    "Messages",
    chat({ response_format: { type: "json_schema", bar: 1, json_schema: { name: "a", foo: 2, schema } } }),
    ["response_format.bar", "response_format.json_schema.foo"],
  ],
  [
    "an unknown member of a choice",
    "ChatCompletions",
    "Responses",
    chat({
      tools: [{ type: "function", function: { name: "f" } }],
      tool_choice: { type: "function", function: { name: "f" }, z: 1 },
    }),
    ["tool_choice.z"],
  ],
  [
    "an unknown member of the text's form",
    "Responses",
    "GenerateContent",
    { model: "m", input: "x", text: { format: { type: "json_schema", name: "a", foo: 2, schema } } },
    ["text.format.foo"],
  ],
  [
    "a name of a form that has none",
    "Messages",
    "GenerateContent",
    { ...message, max_tokens: 4096, output_config: { format: { type: "json_schema", name: "a", schema } } },
    ["output_config.format.name"],
  ],
] as const;

const olderChoice = { functions: [{ name: "f", parameters: schema }], function_call: { name: "unknown" } };
const noThinking = { ...message, thinking: { type: "disabled" }, output_config: { effort: "low" } };

const place = "input[0].content[0]";
/** Explicit, with or without a part that says so. */
const cached = ({ isPart = false }): object => {
  const breakpoint = { prompt_cache_breakpoint: { mode: "explicit", ttl: "12h" } };
  const content = [{ type: "input_text", text: "x", ...(isPart ? breakpoint : {}) }];
  return {
    model: "m",
    input: [{ role: "user", content }],
    ...(isPart ? {} : { prompt_cache_options: { mode: "explicit" } }),
  };
};

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
  ...unknownMembers,
  [
    "that a user thought it",
    "GenerateContent",
    "Messages",
    { contents: [{ role: "user", parts: [{ text: "hi", thought: true }] }] },
    ["contents[0].parts[0].thought"],
  ],
  ["a cap by its older name", "ChatCompletions", "Messages", chat({ max_tokens: 500_000 }), ["max_tokens"]],
  ["a choice by its older name", "ChatCompletions", "Responses", chat(olderChoice), ["function_call"]],
  [
    "a count without its word in the list",
    "Responses",
    "Messages",
    { model: "m", input: "x", top_logprobs: 3 },
    ["top_logprobs"],
  ],
  [
    "a mark for the cache in OpenAI's words",
    "Responses",
    "GenerateContent",
    cached({ isPart: true }),
    [`${place}.prompt_cache_breakpoint`],
  ],
  ["a mark for the cache in OpenAI's words, carried", "Responses", "ChatCompletions", cached({ isPart: true }), []],
  ["the manner of caching, carried", "Responses", "ChatCompletions", cached({}), []],
  ["the manner of caching", "Responses", "Messages", cached({}), ["prompt_cache_options"]],
  ["how hard to think without thinking", "Messages", "ChatCompletions", noThinking, ["output_config.effort"]],
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
    const read = () => readTranslatableCall(readCallOf(from, Buffer.from(JSON.stringify(body)), false));
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
