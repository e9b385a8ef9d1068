/** What an upstream tells of a text before or behind it: sources and log probabilities, for clients of other formats. */
import assert from "node:assert/strict";
import { isObject } from "#proxy/json/json-value";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { answerOf, smallestCalls, streamOf } from "#test/support/translation/pure-translation";

const frames = (objects: readonly object[], named = false): string =>
  objects
    .map((object) => `${named ? `event: ${Object(object).type}\n` : ""}data: ${JSON.stringify(object)}\n\n`)
    .join("");

/** Clients' calls that search, which is why sources come. */
const searching: Partial<Record<ChatWireFormat, object>> = {
  ChatCompletions: { ...smallestCalls.ChatCompletions, web_search_options: {} },
  Responses: { ...smallestCalls.Responses, tools: [{ type: "web_search" }] },
};

/** The final response of a stream, every event of which it must agree with. */
function finalResponse(stream: string): Record<string, unknown> {
  const events = [...stream.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
  const { response } = events.at(-1);
  for (const { type, output_index: index, item } of events) {
    if (type === "response.output_item.done") assert.deepEqual(item, response.output[index]);
  }
  const added = events.filter(({ type }) => type === "response.output_text.annotation.added");
  assert.deepEqual(
    added.map(({ annotation }) => annotation),
    response.output.flatMap((item: { content?: { annotations?: unknown[] }[] }) =>
      (item.content ?? []).flatMap(({ annotations = [] }) => annotations),
    ),
  );
  return response;
}

type Shown = readonly [text: string, places: readonly (readonly [number, number])[]];

/** Texts of a response with the places of their sources. */
function shown(response: unknown): readonly Shown[] {
  const { output } = Object(response);
  return output.flatMap((item: { type: string; content: { text: string; annotations: object[] }[] }) =>
    item.type !== "message"
      ? []
      : item.content.map(({ text, annotations }) => [
          text,
          annotations.map((it) => [Object(it).start_index, Object(it).end_index]),
        ]),
  );
}

/** Places of sources in the whole content of a chat message, or of the chunks of one. */
function cited(answer: unknown): readonly (readonly [number, number])[] {
  const deltas = isObject(answer)
    ? [Object(answer).choices[0].message]
    : [...String(answer).matchAll(/^data: (\{.*)$/gm)].map(([, data = ""]) => JSON.parse(data).choices[0]?.delta ?? {});
  return deltas.flatMap(({ annotations = [] }: { annotations?: { url_citation: Record<string, number> }[] }) =>
    annotations.map(({ url_citation: { start_index: start = -1, end_index: end = -1 } }) => [start, end] as const),
  );
}

const google = (parts: readonly object[], more: object = {}): object => ({
  candidates: [{ index: 0, content: { role: "model", parts }, ...more }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
});
const grounding = (startIndex: number, endIndex: number, text: string): object => ({
  groundingMetadata: {
    groundingChunks: [{ web: { uri: "https://a", title: "A" } }],
    groundingSupports: [{ segment: { startIndex, endIndex, text }, groundingChunkIndices: [0] }],
  },
});
const call = { functionCall: { name: "f", args: {} } };
const code = [{ executableCode: { language: "PYTHON", code: "1" } }, { codeExecutionResult: { output: "1" } }];

describe("sources that come apart from their text", () => {
  it("of a messages upstream hold for the whole block, though they come in front of it", () => {
    const block = (index: number, text: string): readonly object[] => [
      { type: "content_block_start", index, content_block: { type: "text", text: "", citations: [] } },
      {
        type: "content_block_delta",
        index,
        delta: {
          type: "citations_delta",
          citation: { type: "web_search_result_location", url: "https://a", title: "A" },
        },
      },
      { type: "content_block_delta", index, delta: { type: "text_delta", text } },
      { type: "content_block_stop", index },
    ];
    const stream = frames(
      [
        {
          type: "message_start",
          message: { id: "m", type: "message", role: "assistant", model: "m", content: [], usage: {} },
        },
        ...block(0, "One. "),
        ...block(1, "Two."),
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { input_tokens: 1, output_tokens: 2 } },
        { type: "message_stop" },
      ],
      true,
    );
    const told = streamOf("Messages", "Responses", smallestCalls.Responses, stream);
    assert.deepEqual(shown(finalResponse(told)), [
      [
        "One. Two.",
        [
          [0, 5],
          [5, 9],
        ],
      ],
    ]);
  });

  for (const { name, parts, at, places, responses } of [
    {
      name: "behind a call",
      parts: [{ text: "Grüße blau." }, call],
      at: grounding(8, 13, "blau."),
      places: [[6, 11]],
      responses: [["Grüße blau.", [[6, 11]]]],
    },
    {
      name: "of the first of two texts",
      parts: [{ text: "One blau." }, ...code, { text: "Two." }],
      at: grounding(4, 9, "blau."),
      places: [[4, 9]],
      responses: [
        ["One blau.", [[4, 9]]],
        ["Two.", []],
      ],
    },
    {
      name: "of a text in front of a thought",
      parts: [{ text: "Hello there. " }, { text: "T", thought: true }, { text: "Bye." }],
      at: grounding(0, 12, "Hello there."),
      places: [[0, 12]],
      responses: [
        ["Hello there. ", [[0, 12]]],
        ["Bye.", []],
      ],
    },
  ] as const) {
    const whole = google(parts, { finishReason: "STOP", ...at });
    const pieces = [...parts.map((part) => google([part])), google([], { finishReason: "STOP", ...at })];
    it(`of Google stand at their text: ${name}`, () => {
      for (const body of [smallestCalls.ChatCompletions, searching.ChatCompletions ?? {}]) {
        assert.deepEqual(cited(answerOf("GenerateContent", "ChatCompletions", body, whole)), places);
        assert.deepEqual(cited(streamOf("GenerateContent", "ChatCompletions", body, frames(pieces))), places);
      }
      const body = searching.Responses ?? {};
      assert.deepEqual(shown(answerOf("GenerateContent", "Responses", body, whole)), responses);
      assert.deepEqual(shown(finalResponse(streamOf("GenerateContent", "Responses", body, frames(pieces)))), responses);
    });
  }

  it("make no message of their own behind a call, also where nobody waits for them", () => {
    const pieces = [google([{ text: "Hi." }]), google([call], { finishReason: "STOP", ...grounding(0, 3, "Hi.") })];
    const response = finalResponse(streamOf("GenerateContent", "Responses", smallestCalls.Responses, frames(pieces)));
    assert.deepEqual(shown(response), [["Hi.", []]]);
  });

  describe("of a chat upstream", () => {
    const chunk = (delta: object, finish: string | null = null): object => ({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    const cite = (start_index: number, end_index: number): object => ({
      annotations: [{ type: "url_citation", url_citation: { url: "https://a", title: "A", start_index, end_index } }],
    });
    const tell = (client: ChatWireFormat, ...chunks: readonly object[]): string =>
      streamOf("ChatCompletions", client, smallestCalls[client], `${frames(chunks)}data: [DONE]\n\n`);
    const call = { tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "f", arguments: "{}" } }] };

    it("stand at their text, also behind a call", () => {
      const chunks = [chunk({ content: "Hello you" }), chunk(call), chunk(cite(0, 5), "tool_calls")];
      assert.match(tell("GenerateContent", ...chunks), /"groundingSupports":\[\{"segment":\{[^}]*"endIndex":5/);
      const response = finalResponse(tell("Responses", ...chunks));
      assert.deepEqual(
        shown(response),
        [["Hello you", []]],
        "no message for them alone, where no search was asked for",
      );
    });

    it("wait for a text that is still to come", () => {
      const chunks = [
        chunk({ content: "one" }),
        chunk({ reasoning_content: "T" }),
        chunk(cite(3, 6)),
        chunk({ content: "two" }, "stop"),
      ];
      assert.deepEqual(shown(finalResponse(tell("Responses", ...chunks))), [
        ["one", []],
        ["two", [[0, 3]]],
      ]);
      const never = [chunk({ content: "one" }), chunk({ reasoning_content: "T" }), chunk(cite(3, 6), "stop")];
      assert.match(tell("GenerateContent", ...never), /https:\/\/a/);
    });
  });

  it("of Google without a place stand at the last text that says something", () => {
    const { groundingMetadata } = Object(grounding(0, 1, "")) as { groundingMetadata: Record<string, unknown> };
    const sources = { groundingMetadata: { groundingChunks: groundingMetadata["groundingChunks"] } };
    const parts = [{ text: "Answer." }, ...code, { text: "", thoughtSignature: "c2ln" }];
    const whole = google(parts, { finishReason: "STOP", ...sources });
    assert.deepEqual(cited(answerOf("GenerateContent", "ChatCompletions", smallestCalls.ChatCompletions, whole)), [
      [0, 7],
    ]);
    assert.deepEqual(shown(answerOf("GenerateContent", "Responses", searching.Responses ?? {}, whole)), [
      ["Answer.", [[0, 7]]],
    ]);
  });
});

describe("tokens that come apart from their text", () => {
  const asking = { ...smallestCalls.Responses, include: ["message.output_text.logprobs"], top_logprobs: 1 };
  const tokensOf = (response: unknown): readonly (readonly [string, readonly string[]])[] =>
    Object(response).output.flatMap(
      (item: { type: string; content: { text: string; logprobs: { token: string }[] }[] }) =>
        item.type === "message" ? item.content.map((it) => [it.text, it.logprobs.map(({ token }) => token)]) : [],
    );

  it("of a chat upstream are kept where the first of them is no character yet", () => {
    const chunk = (content: string, token: string, finish: string | null = null): object => ({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [
        {
          index: 0,
          delta: { content },
          logprobs: { content: [{ token, logprob: -1, bytes: [1], top_logprobs: [] }] },
          finish_reason: finish,
        },
      ],
    });
    const stream = `${frames([chunk("", "a"), chunk("x", "b", "stop")])}data: [DONE]\n\n`;
    assert.deepEqual(tokensOf(finalResponse(streamOf("ChatCompletions", "Responses", asking, stream))), [
      ["x", ["a", "b"]],
    ]);
  });

  it("of a thought are not those of the text behind it", () => {
    const logprobs = (token: string): object => ({ content: [{ token, logprob: -1, bytes: null, top_logprobs: [] }] });
    const chunk = (delta: object, more: object): object => ({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta, finish_reason: null, ...more }],
    });
    const stream = `${frames([
      chunk({ content: "" }, { logprobs: logprobs("<think>") }),
      chunk({ reasoning_content: "T" }, {}),
      chunk({ content: "Hi" }, { logprobs: logprobs("Hi"), finish_reason: "stop" }),
    ])}data: [DONE]\n\n`;
    assert.deepEqual(tokensOf(finalResponse(streamOf("ChatCompletions", "Responses", asking, stream))), [
      ["Hi", ["Hi"]],
    ]);
  });

  it("of Google stand at the text, and make no message behind a call", () => {
    const logprobsResult = { chosenCandidates: [{ token: "x", logProbability: -1 }] };
    for (const [parts, want] of [
      [[{ text: "x" }, call], [["x", ["x"]]]],
      [[call], []],
    ] as const) {
      const body = google(parts, { finishReason: "STOP", logprobsResult });
      assert.deepEqual(tokensOf(answerOf("GenerateContent", "Responses", asking, body)), want);
    }
  });
});
