/**
 * pitfall 153: thinking that a chat upstream sent as plain text goes back to it with its calls, under any model's name.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useTranslationRig } from "#test/support/conformance/translation-rig";
import type { DigestProtocol } from "#test/support/digest/facts";

type Json = Record<string, unknown>;
type Client = Exclude<DigestProtocol, "openai-chat">;

const schema = { type: "object", properties: {} };
/** Two calls at once, with thinking before them. */
const called = (member: string, thought: string): Json => ({
  role: "assistant",
  content: null,
  [member]: thought,
  tool_calls: ["a", "b"].map((id) => ({
    id: `call_${id}`,
    type: "function",
    function: { name: "f", arguments: "{}" },
  })),
});

/** What each client sends first, how it reads the answer as history, and how it goes on. */
const clients: Readonly<
  Record<Client, { first: Json; historyOf: (text: string, stream: boolean) => Json[]; next: (history: Json[]) => Json }>
> = {
  "anthropic-messages": {
    first: {
      max_tokens: 4_000,
      thinking: { type: "enabled", budget_tokens: 2_000 },
      tools: [{ name: "f", input_schema: schema }],
      messages: [{ role: "user", content: "q" }],
    },
    historyOf: (text, stream) => (stream ? blocksOfStream(text) : JSON.parse(text).content),
    next: (content) => ({
      messages: [
        { role: "user", content: "q" },
        { role: "assistant", content },
        {
          role: "user",
          content: ["a", "b"].map((id) => ({ type: "tool_result", tool_use_id: `call_${id}`, content: "r" })),
        },
      ],
    }),
  },
  "openai-responses": {
    first: {
      tools: [{ type: "function", name: "f", parameters: schema, strict: false }],
      input: [{ role: "user", content: "q" }],
    },
    historyOf: (text, stream) => Object(stream ? eventsOf(text).at(-1)?.["response"] : JSON.parse(text)).output,
    next: (history) => ({
      input: [
        { role: "user", content: "q" },
        ...history,
        ...["a", "b"].map((id) => ({ type: "function_call_output", call_id: `call_${id}`, output: "r" })),
      ],
    }),
  },
  gemini: {
    first: {
      contents: [{ role: "user", parts: [{ text: "q" }] }],
      tools: [{ functionDeclarations: [{ name: "f" }] }],
      generationConfig: { thinkingConfig: { includeThoughts: true } },
    },
    historyOf: (text, stream) =>
      (stream ? eventsOf(text) : [JSON.parse(text)]).flatMap(
        (frame) => Object(frame).candidates?.[0]?.content?.parts ?? [],
      ),
    next: (parts) => ({
      contents: [
        { role: "user", parts: [{ text: "q" }] },
        { role: "model", parts },
        {
          role: "user",
          parts: ["a", "b"].map((id) => ({
            functionResponse: { id: `call_${id}`, name: "f", response: { output: "r" } },
          })),
        },
      ],
    }),
  },
};

/** A client that leaves thinking out of its history. */
const withoutThinking: Readonly<Partial<Record<Client, (history: Json[]) => Json[]>>> = {
  "anthropic-messages": (content) => content.filter(({ type }) => type !== "thinking"),
  "openai-responses": (items) => items.filter(({ type }) => type !== "reasoning"),
};

describe("pitfall 153: thinking of a chat upstream", () => {
  const rig = useTranslationRig();

  async function secondTurn(
    client: Client,
    stream: boolean,
    member: string,
    edit: (history: Json[]) => Json[] = (history) => history,
  ): Promise<Json[]> {
    const { first, historyOf, next } = clients[client];
    const message = called(member, "because R");
    rig().upstream.replyWith(stream ? streamOf(message) : bodyOf(message));
    const answer = await rig().call(client, "openai-chat", stream, first);
    assert.equal(answer.status, 200, answer.body.toString());
    const history = edit(historyOf(answer.body.toString(), stream));
    rig().upstream.replyWith(bodyOf({ role: "assistant", content: "ok" }));
    const later = await rig().call(client, "openai-chat", false, { ...first, ...next(history) });
    assert.equal(later.status, 200, later.body.toString());
    return JSON.parse(String(rig().upstream.requests.at(-1)?.body)).messages;
  }

  for (const client of ["anthropic-messages", "openai-responses", "gemini"] as const) {
    for (const stream of [false, true]) {
      for (const member of ["reasoning_content", "reasoning"]) {
        it(`${client}${stream ? ", streamed" : ""}: ${member} goes back with both calls`, async () => {
          const messages = await secondTurn(client, stream, member);
          const [assistant, ...more] = messages.filter(({ role }) => role === "assistant");
          assert.deepEqual(more, []);
          assert.equal(assistant?.[member], "because R");
          assert.equal(Object(assistant)["tool_calls"].length, 2);
        });
      }
      const edit = withoutThinking[client];
      if (edit === undefined) continue;
      it(`${client}${stream ? ", streamed" : ""}: also where the client left its thinking out`, async () => {
        const messages = await secondTurn(client, stream, "reasoning_content", edit);
        assert.equal(messages.find(({ role }) => role === "assistant")?.["reasoning_content"], "because R");
      });
    }
  }

  it("anthropic-messages: a forged, a native and another channel's block never go out", async () => {
    for (const signature of [
      "",
      "EqQBCg",
      `tg1.${Buffer.from('[{"kind":"reasoning-text","text":"X"}]').toString("base64url")}.AAAA`,
    ]) {
      const messages = await secondTurn("anthropic-messages", false, "content_of_nobody", (content) => [
        { type: "thinking", thinking: "X", signature },
        ...content,
      ]);
      assert.doesNotMatch(JSON.stringify(messages), /reasoning|"X"/);
    }
  });

  it("anthropic-messages: calls without thinking say a space once the conversation has some of this channel", async () => {
    const old = [
      { type: "tool_use", id: "old", name: "f", input: {} },
      { type: "text", text: "unused" },
    ];
    const { first, historyOf } = clients["anthropic-messages"];
    rig().upstream.replyWith(bodyOf(called("reasoning_content", "because R")));
    const answer = await rig().call("anthropic-messages", "openai-chat", false, first);
    const results = ["a", "b"].map((id) => ({ type: "tool_result", tool_use_id: `call_${id}`, content: "r" }));
    const messages = [
      { role: "user", content: "p" },
      { role: "assistant", content: old.slice(0, 1) },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "old", content: "r" }] },
      { role: "assistant", content: historyOf(answer.body.toString(), false) },
      { role: "user", content: results },
    ];
    rig().upstream.replyWith(bodyOf({ role: "assistant", content: "ok" }));
    await rig().call("anthropic-messages", "openai-chat", false, { ...first, messages });
    const sent: Json[] = JSON.parse(String(rig().upstream.requests.at(-1)?.body)).messages;
    const thoughts = sent.filter(({ role }) => role === "assistant").map((it) => it["reasoning_content"]);
    assert.deepEqual(thoughts, [" ", "because R"]);
  });
});

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

function bodyOf(message: Json) {
  const finish_reason = "tool_calls" in message ? "tool_calls" : "stop";
  const body = {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message, finish_reason }],
    usage,
  };
  return { body: JSON.stringify(body) };
}

/** Thinking in two pieces, then the calls. */
function streamOf(message: Json) {
  const { tool_calls, content, role, ...thinking } = message;
  const deltas: Json[] = [{ role, content: "" }];
  for (const [member, text] of Object.entries(thinking)) {
    deltas.push({ [member]: String(text).slice(0, 4) }, { [member]: String(text).slice(4), content: null });
  }
  for (const [index, call] of Object(tool_calls).entries()) deltas.push({ content, tool_calls: [{ index, ...call }] });
  const chunks = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
    { choices: [], usage },
  ].map((chunk) => `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", ...chunk })}\n\n`);
  return { headers: { "content-type": "text/event-stream" }, body: `${chunks.join("")}data: [DONE]\n\n` };
}

function eventsOf(text: string): Json[] {
  return text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []));
}

/** The content blocks that the events of a messages stream build. */
function blocksOfStream(text: string): Json[] {
  const blocks: Record<string, unknown>[] = [];
  for (const event of eventsOf(text)) {
    const { type, index, content_block, delta } = Object(event);
    if (type === "content_block_start") blocks[index] = { ...content_block };
    const block = Object(blocks[index]);
    if (delta?.type === "thinking_delta") block.thinking += delta.thinking;
    if (delta?.type === "signature_delta") block.signature = delta.signature;
  }
  return blocks;
}
