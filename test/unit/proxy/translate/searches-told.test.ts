/** What a provider searched for and where its sources are used, as clients of other formats are told it. */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "#proxy/json/json-value";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { answerOf, sendTo, smallestCalls, streamOf } from "#test/support/translation/pure-translation";

const usage = { input_tokens: 1, output_tokens: 1 };
const use = (id: string, query: string) => ({ type: "server_tool_use", id, name: "web_search", input: { query } });
const found = (id: string, url: string) => ({
  type: "web_search_tool_result",
  tool_use_id: id,
  content: [{ type: "web_search_result", url, title: "A", encrypted_content: "E" }],
});
const failed = (id: string) => ({
  type: "web_search_tool_result",
  tool_use_id: id,
  content: { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" },
});
const citation = (url: string) => ({
  type: "web_search_result_location",
  url,
  title: "A",
  cited_text: "c",
  encrypted_index: "X",
});
const text = (said: string, ...urls: string[]) => ({ type: "text", text: said, citations: urls.map(citation) });

function claude(content: readonly object[]): object {
  return { type: "message", id: "msg_1", role: "assistant", model: "m", content, stop_reason: "end_turn", usage };
}

/** The same as a stream. @param isCitedFirst citations come in front of their text */
function claudeStream(content: readonly object[], isCitedFirst: boolean): string {
  const events: object[] = [{ type: "message_start", message: { ...claude([]), stop_reason: null } }];
  for (const [index, block] of content.entries()) {
    const { citations = [], input, text: said, ...start } = block as Record<string, unknown>;
    const delta = (piece: object) => ({ type: "content_block_delta", index, delta: piece });
    const cited = Object(citations).map((it: object) => delta({ type: "citations_delta", citation: it }));
    const spoken = typeof said === "string" ? [delta({ type: "text_delta", text: said })] : [];
    const asked = input === undefined ? "" : JSON.stringify(input);
    const json = asked === "" ? [] : [asked.slice(0, 5), asked.slice(5)];
    events.push(
      {
        type: "content_block_start",
        index,
        content_block: { ...start, ...(asked && { input: {} }), ...(typeof said === "string" && { text: "" }) },
      },
      ...json.map((partial_json) => delta({ type: "input_json_delta", partial_json })),
      ...(isCitedFirst ? [...cited, ...spoken] : [...spoken, ...cited]),
      { type: "content_block_stop", index },
    );
  }
  events.push({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage }, { type: "message_stop" });
  return events.map((event) => `event: ${Object(event).type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

function dataOf(stream: string): JsonObject[] {
  return [...stream.matchAll(/^data: (\{.*?)\r?$/gm)].map(([, data = ""]) => JSON.parse(data));
}

interface Told {
  readonly said: string;
  readonly grounding: Record<string, JsonObject[]>;
}

/** What a generateContent client is told, whole and streamed in both orders. */
function toldToGemini(content: readonly object[]): Told[] {
  const whole = answerOf("Messages", "GenerateContent", smallestCalls.GenerateContent, claude(content));
  const streams = [true, false].map((isCitedFirst) =>
    dataOf(streamOf("Messages", "GenerateContent", smallestCalls.GenerateContent, claudeStream(content, isCitedFirst))),
  );
  return [[Object(whole)], ...streams].map((frames) => {
    const candidates = frames.map(({ candidates }) => Object(candidates)[0]);
    const parts = candidates.flatMap(({ content }) => content.parts);
    return { said: parts.map((part) => part.text ?? "").join(""), grounding: candidates.at(-1).groundingMetadata };
  });
}

describe("pitfall 162: citations of Claude for generateContent clients", () => {
  it("have the segment of their block, in bytes", () => {
    const content = [
      text("Größe 😀 "),
      text("rises", "https://a", "https://b", "https://a"),
      text(" é"),
      text("ü!", "https://a"),
    ];
    for (const { said, grounding } of toldToGemini(content)) {
      assert.equal(said, "Größe 😀 rises éü!");
      assert.deepEqual(
        grounding["groundingChunks"]?.map(({ web }) => Object(web).uri),
        ["https://a", "https://b"],
      );
      assert.deepEqual(grounding["groundingSupports"], [
        { segment: { startIndex: 13, endIndex: 18, text: "rises" }, groundingChunkIndices: [0, 1] },
        { segment: { startIndex: 21, endIndex: 24, text: "ü!" }, groundingChunkIndices: [0] },
      ]);
      for (const { segment } of grounding["groundingSupports"] ?? []) {
        const { startIndex = 0, endIndex, text: words } = Object(segment);
        assert.equal(Buffer.from(said).subarray(startIndex, endIndex).toString(), words);
      }
    }
  });

  it("come back as places in what other clients read", () => {
    const segment = { startIndex: 13, endIndex: 18, text: "rises" };
    const reply = {
      candidates: [
        {
          content: { role: "model", parts: [{ text: "Größe 😀 rises" }] },
          finishReason: "STOP",
          groundingMetadata: {
            groundingChunks: [{ web: { uri: "https://a", title: "A" } }],
            groundingSupports: [{ segment, groundingChunkIndices: [0] }],
          },
        },
      ],
    };
    const chat = Object(answerOf("GenerateContent", "ChatCompletions", smallestCalls.ChatCompletions, reply));
    const { start_index: start, end_index: end } = chat.choices[0].message.annotations[0].url_citation;
    assert.equal("Größe 😀 rises".slice(start, end), "rises");
    const message = Object(answerOf("GenerateContent", "Messages", smallestCalls.Messages, reply));
    assert.equal(message.content[0].citations[0].cited_text, "rises");
  });

  it("of upstreams that know no place are of the whole text", () => {
    const annotation = { type: "url_citation", url: "https://a", title: "A", start_index: 0, end_index: 0 };
    const content = [{ type: "output_text", text: "é a", annotations: [annotation], logprobs: [] }];
    const output = [{ type: "message", id: "msg_1", status: "completed", role: "assistant", content }];
    const reply = { id: "r", object: "response", status: "completed", model: "m", output, usage };
    const { candidates } = Object(answerOf("Responses", "GenerateContent", smallestCalls.GenerateContent, reply));
    assert.deepEqual(candidates[0].groundingMetadata.groundingSupports, [
      { segment: { endIndex: 4, text: "é a" }, groundingChunkIndices: [0] },
    ]);
  });
});

const searched = [
  use("s1", "gold price"),
  found("s1", "https://a"),
  use("s2", "silver"),
  use("s3", "tin"),
  failed("s3"),
  found("s2", "https://b"),
  text("Up", "https://a"),
];

describe("pitfall 163: queries of a search", () => {
  const searching: Partial<Record<ChatWireFormat, object>> = {
    Responses: { ...smallestCalls.Responses, tools: [{ type: "web_search" }] },
    Messages: { ...smallestCalls.Messages, tools: [{ type: "web_search_20250305", name: "web_search" }] },
  };
  const responses = searching.Responses ?? {};
  const messages = searching.Messages ?? {};

  it("of Claude reach responses clients, and which of them failed", () => {
    const whole = Object(answerOf("Messages", "Responses", responses, claude(searched)));
    const events = dataOf(streamOf("Messages", "Responses", responses, claudeStream(searched, false)));
    for (const { output } of [whole, Object(events.at(-1)?.["response"])]) {
      const calls = output.filter(({ type }: JsonObject) => type === "web_search_call");
      assert.deepEqual(
        calls.map(({ status, action }: JsonObject) => [status, action]),
        [
          ["completed", { type: "search", query: "gold price", queries: ["gold price"] }],
          ["failed", { type: "search", query: "tin", queries: ["tin"] }],
          ["completed", { type: "search", query: "silver", queries: ["silver"] }],
        ],
      );
    }
    assert.equal(events.filter(({ type }) => type === "response.web_search_call.completed").length, 2);
  });

  it("of Claude reach generateContent clients", () => {
    for (const { grounding } of toldToGemini(searched)) {
      assert.deepEqual(grounding["webSearchQueries"], ["gold price", "tin", "silver"]);
    }
  });

  const groundingMetadata = {
    webSearchQueries: ["gold price", "silver"],
    groundingChunks: [{ web: { uri: "https://a", title: "A" } }],
  };
  const google = (members: object) => ({
    candidates: [{ index: 0, ...members }],
    usageMetadata: { promptTokenCount: 1 },
  });
  const content = { role: "model", parts: [{ text: "Up" }] };
  const whole = google({ content, finishReason: "STOP", groundingMetadata });
  const pieces = [google({ content }), google({ finishReason: "STOP", groundingMetadata })]
    .map((frame) => `data: ${JSON.stringify(frame)}\r\n\r\n`)
    .join("");

  it("of Google reach responses clients", () => {
    const events = dataOf(streamOf("GenerateContent", "Responses", responses, pieces));
    for (const [response, order] of [
      [Object(answerOf("GenerateContent", "Responses", responses, whole)), ["web_search_call", "message"]],
      [Object(events.at(-1)?.["response"]), ["message", "web_search_call"]],
    ]) {
      assert.deepEqual(
        response.output.map(({ type }: JsonObject) => type),
        order,
      );
      const call = response.output.find(({ type }: JsonObject) => type === "web_search_call");
      assert.deepEqual(call.action, { type: "search", query: "gold price", queries: ["gold price", "silver"] });
    }
  });

  it("of Google reach messages clients, and none of it their vendor", () => {
    const { content } = Object(answerOf("GenerateContent", "Messages", messages, whole));
    assertSearchShown(content);
    const starts = dataOf(streamOf("GenerateContent", "Messages", messages, pieces)).flatMap((event) => {
      const { content_block: block, delta } = event;
      if (isObject(block)) return [block];
      return isObject(delta) && delta["type"] === "input_json_delta" ? [JSON.parse(String(delta["partial_json"]))] : [];
    });
    assert.deepEqual(
      starts.filter((it) => it["query"] !== undefined),
      [{ query: "gold price" }, { query: "silver" }],
    );
    const history = [...Object(messages).messages, { role: "assistant", content }, { role: "user", content: "go on" }];
    for (const to of ["ChatCompletions", "Responses", "GenerateContent"] as const) {
      const { body } = Object(sendTo(to, "Messages", { ...smallestCalls.Messages, messages: history }));
      assert.ok(!JSON.stringify(body).includes("tg1"));
    }
  });

  it("of OpenAI reach messages and generateContent clients", () => {
    const call = { type: "web_search_call", id: "ws_1", status: "completed" };
    const output = [
      { ...call, action: { type: "search", query: "gold price", queries: ["gold price", "silver"] } },
      { ...call, id: "ws_2", action: { type: "open_page", url: "https://a" } },
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "Up", annotations: [] }],
      },
    ];
    const reply = { id: "r", object: "response", status: "completed", model: "m", output, usage };
    const { content } = Object(answerOf("Responses", "Messages", messages, reply));
    assert.deepEqual(
      content.flatMap((block: JsonObject) => block["input"] ?? []),
      [{ query: "gold price" }, { query: "silver" }],
    );
    const { candidates } = Object(answerOf("Responses", "GenerateContent", smallestCalls.GenerateContent, reply));
    assert.deepEqual(candidates[0].groundingMetadata, { webSearchQueries: ["gold price", "silver"] });
  });
});

function assertSearchShown(content: readonly JsonObject[]): void {
  const [first, , second, result, said] = content;
  assert.deepEqual(
    [first, second].map((it) => [it?.["type"], it?.["name"], it?.["input"]]),
    [
      ["server_tool_use", "web_search", { query: "gold price" }],
      ["server_tool_use", "web_search", { query: "silver" }],
    ],
  );
  assert.equal(result?.["tool_use_id"], second?.["id"]);
  assert.match(String(second?.["id"]), /^srvtoolu_[a-zA-Z0-9_]+$/);
  assert.deepEqual(
    Object(result?.["content"]).map(({ type, url, title }: JsonObject) => [type, url, title]),
    [["web_search_result", "https://a", "A"]],
  );
  assert.equal(said?.["text"], "Up");
}
