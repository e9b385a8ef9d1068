/** What tells a whole reply as a stream: by the published documents, and as the official SDKs put it together again. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { ownFormatReplies } from "#test/support/conformance/own-format-replies";
import { at } from "#test/support/digest/facts";
import { explainAbsence } from "#test/support/digest/recorded";
import { anthropicGenerations, openaiGenerations } from "#test/support/official-clients";
import { dataOf, replayed } from "#test/support/translation/own-format-exchange";
import { publishedDocuments } from "#test/support/translation/published-schemas";

const response = ownFormatReplies["openai-responses"];
const message = ownFormatReplies["anthropic-messages"];
const completion = ownFormatReplies["openai-chat"];

/** What the older SDK's helper does not know: custom tools in chunks, and remote ones outside of the beta's helper. */
const unknownToHelpers: ReadonlySet<unknown> = new Set(["custom", "mcp_tool_use"]);

/** A list without such entries. */
function known(list: unknown): unknown {
  return Array.isArray(list) ? list.filter((entry) => !unknownToHelpers.has(at(entry, "type"))) : list;
}

function answering(stream: Buffer): () => Promise<Response> {
  return async () => new Response(new Uint8Array(stream), { headers: { "content-type": "text/event-stream" } });
}

const withoutCustomTools = JSON.parse(
  JSON.stringify(completion, (name, value) => (name === "tool_calls" ? known(value) : value)),
);

/** As JSON says it, without what an SDK adds. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, member) =>
      /^(?:parsed|output_parsed|parsed_arguments|parsed_output|output_text|_request_id)$/.test(name)
        ? undefined
        : member,
    ),
  );
}

describe("whole replies as streams, to the formats' own clients", () => {
  const documents = publishedDocuments()?.filter(({ name }) => name === "openai");
  if (documents === undefined) it(explainAbsence("published documents"));
  const events = dataOf(replayed("Responses", response));

  it("every event of a response has its published form", () => {
    for (const event of events) {
      const type = String(event["type"]);
      // What shows an item or a response holds one that nobody knows, and lacks what the reply itself leaves out.
      if (/output_item|^response\.(?:created|in_progress|completed)$/.test(type)) continue;
      for (const document of documents ?? []) assert.deepEqual(document.event(event), [], type);
    }
  });

  it("events of a response are numbered 0, 1, 2 …", () => {
    const numbers = events.map((event) => event["sequence_number"]);
    assert.deepEqual(numbers, [...numbers.keys()]);
  });

  for (const { name, load } of openaiGenerations) {
    it(`${name} puts a response together`, async () => {
      // An item of a type that nobody knows yet is no SDK's.
      const output = Object(response).output.filter((item: unknown) => at(item, "type") !== "future_call");
      const told = { ...response, output };
      const Client = load();
      const openai = new Client({ apiKey: "k", maxRetries: 0, fetch: answering(replayed("Responses", told)) });
      const final = await openai.responses.stream({ model: "m", input: "hi" }).finalResponse();
      assert.deepEqual(plain(final), told);
    });

    it(`${name} puts a completion together`, async () => {
      const Client = load();
      const openai = new Client({
        apiKey: "k",
        maxRetries: 0,
        fetch: answering(replayed("ChatCompletions", withoutCustomTools)),
      });
      const runner = openai.chat.completions.stream({ model: "m", n: 2, messages: [{ role: "user", content: "hi" }] });
      const final = plain(await runner.finalChatCompletion());
      assert.equal(at(final, "choices", 0, "message", "content"), "It is so.");
      assert.equal(at(final, "choices", 0, "message", "tool_calls", 0, "function", "arguments"), '{"n":1}');
      assert.equal(at(final, "choices", 1, "message", "content"), "Or not.");
      assert.deepEqual(at(final, "usage"), Object(completion).usage);
    });
  }

  for (const { name, load } of anthropicGenerations) {
    it(`${name} puts a message together`, async () => {
      const Client = load();
      const anthropic = new Client({ apiKey: "k", maxRetries: 0, fetch: answering(replayed("Messages", message)) });
      const messages = [{ role: "user" as const, content: "hi" }];
      const final = await anthropic.messages.stream({ model: "m", max_tokens: 9, messages }).finalMessage();
      assert.deepEqual(known(at(plain(final), "content")), known(Object(message).content));
      assert.deepEqual(at(plain(final), "container"), Object(message).container);
      assert.equal(final.stop_reason, "tool_use");
      assert.equal(final.usage.output_tokens, 7);
    });
  }
});
