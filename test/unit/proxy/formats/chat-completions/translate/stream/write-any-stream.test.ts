import assert from "node:assert/strict";
import fc from "fast-check";
import type OpenAI from "openai-7";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import type { Reply } from "#proxy/neutral/reply";
import { checkGrammar } from "#test/support/digest/grammar";
import { openaiGenerations } from "#test/support/official-clients";
import { readStream, replyContext, writeStream, writeWhole } from "#test/support/translation/chat-exchange";
import { anyReply, mixedEvents } from "#test/support/translation/random-replies";

describe("chat completions stream writer: any reply", () => {
  const choices = fc.array(fc.nat({ max: 7 }), { minLength: 1, maxLength: 8 });

  it("is a clean stream that reads as the same reply, however its events are mixed", () => {
    fc.assert(
      fc.property(anyReply(), choices, (reply, turns) => {
        const events = mixedEvents(reply, turns);
        const stream = Buffer.from(writeStream(events));
        assert.deepEqual(checkGrammar("openai-chat", stream), []);
        const again = aggregateReply(readStream(stream));
        assert.deepEqual(comparable(writeWhole(again)), comparable(writeWhole(aggregateReply(events))));
      }),
      { numRuns: 200 },
    );
  });

  for (const { name, load } of openaiGenerations) {
    it(`${name} gathers it to the same message`, async () => {
      await fc.assert(
        // The older generation knows no calls of custom tools in streams.
        fc.asyncProperty(
          anyReply({ candidatesMax: 2, hasCustomCalls: name !== "openai 6" }),
          choices,
          async (reply, turns) => {
            const events = mixedEvents(reply, turns);
            const gathered = await gather(new (load())({ apiKey: "k", fetch: serve(writeStream(events)) }), reply);
            const whole = Object(writeWhole(aggregateReply(events), replyContext()));
            for (const [index, choice] of gathered.choices.entries()) {
              const expected = whole.choices[index];
              assert.equal(choice.finish_reason, expected.finish_reason);
              assert.equal(choice.message.content ?? "", expected.message.content ?? "");
              assert.equal(choice.message.refusal ?? "", expected.message.refusal ?? "");
              assert.deepEqual(calls(choice.message.tool_calls), calls(expected.message.tool_calls));
            }
            assert.deepEqual(gathered.usage ?? undefined, whole.usage);
          },
        ),
        { numRuns: 60 },
      );
    });
  }
});

/** Offsets of sources are no fact where texts of several parts join; ids are minted anew. */
function comparable(body: unknown): unknown {
  return JSON.parse(
    JSON.stringify(body, (name, value) =>
      name === "id" || name === "start_index" || name === "end_index" ? undefined : value,
    ),
  );
}

function serve(stream: string): typeof fetch {
  return async () => new Response(stream, { headers: { "content-type": "text/event-stream" } });
}

async function gather(client: OpenAI, reply: Reply): Promise<OpenAI.ChatCompletion> {
  const stream = client.chat.completions.stream({
    model: "m",
    messages: [{ role: "user", content: "hi" }],
    n: reply.candidates.length,
    stream_options: { include_usage: true },
  });
  return stream.finalChatCompletion();
}

function calls(list: readonly object[] | undefined): unknown {
  return (list ?? []).map((item) => [Reflect.get(item, "function"), Reflect.get(item, "custom")].map(named));
}

function named(called: unknown): unknown {
  if (typeof called !== "object" || called === null) return undefined;
  return ["name", "arguments", "input"].map((member) => Reflect.get(called, member));
}
