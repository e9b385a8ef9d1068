import assert from "node:assert/strict";
import fc from "fast-check";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import type { ReplyEvent } from "#proxy/neutral/reply";
import { checkGrammar } from "#test/support/digest/grammar";
import { openaiGenerations } from "#test/support/official-clients";
import { legalEvents, sequentialEvents } from "#test/support/translation/legal-events";
import { replyContext, writeStream, writeWhole } from "#test/support/translation/responses-exchange";

/** What the SDK makes of a stream, without what it adds. */
async function accumulated(client: (typeof openaiGenerations)[number], stream: string): Promise<unknown> {
  const Client = client.load();
  const openai = new Client({
    apiKey: "sk-test",
    maxRetries: 0,
    fetch: async () => new Response(stream, { headers: { "content-type": "text/event-stream" } }),
  });
  const response = await openai.responses.stream({ model: "m", input: "hi" }).finalResponse();
  const { output_text: _text, output } = response;
  // A parsed form of text and arguments is the SDK's own.
  return JSON.parse(
    JSON.stringify({ ...response, output }, (name, value) =>
      /^(?:parsed|output_parsed|parsed_arguments|output_text)$/.test(name) ? undefined : value,
    ),
  );
}

describe("responses: every legal reply", () => {
  it("has a clean stream whose end is the whole reply", () => {
    fc.assert(
      fc.property(legalEvents, (events: readonly ReplyEvent[]) => {
        const stream = writeStream(events, replyContext());
        assert.deepEqual(checkGrammar("openai-responses", Buffer.from(stream)), []);
      }),
      { numRuns: 300 },
    );
  });

  for (const generation of openaiGenerations) {
    it(`is accepted by ${generation.name}`, async () => {
      await fc.assert(
        fc.asyncProperty(legalEvents, async (events: readonly ReplyEvent[]) => {
          const final: unknown = JSON.parse(JSON.stringify(lastResponse(writeStream(events, replyContext()))));
          assert.deepEqual(await accumulated(generation, writeStream(events, replyContext())), final);
        }),
        { numRuns: 100 },
      );
    });
  }

  it("is the same whole as in pieces", () => {
    fc.assert(
      fc.property(sequentialEvents, (events: readonly ReplyEvent[]) => {
        const whole: unknown = JSON.parse(JSON.stringify(writeWhole(aggregateReply(events), replyContext())));
        assert.deepEqual(lastResponse(writeStream(events, replyContext())), whole);
      }),
      { numRuns: 300 },
    );
  });
});

function lastResponse(stream: string): unknown {
  const last = stream.trimEnd().split("\n\n").at(-1) ?? "";
  return JSON.parse(last.slice(last.indexOf("data: ") + 6)).response;
}
