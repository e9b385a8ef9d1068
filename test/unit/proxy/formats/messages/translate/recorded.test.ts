import assert from "node:assert/strict";
import { messagesClientTranslator } from "#proxy/formats/messages/translate/client-translator";
import { messagesUpstreamTranslator } from "#proxy/formats/messages/translate/upstream-translator";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { replayReply } from "#proxy/neutral/replay-reply";
import type { ReplyEvent } from "#proxy/neutral/reply";
import { compare } from "#test/support/digest/compare";
import { type Digest, digest } from "#test/support/digest/digest";
import { checkGrammar } from "#test/support/digest/grammar";
import { explainAbsence, type Recorded, readRecorded } from "#test/support/digest/recorded";
import { readStream, writeBody, writeStream, writeWhole } from "#test/support/translation/messages-exchange";

const recorded = readRecorded();

function eventsOf({ isStream, bytes }: Recorded): ReplyEvent[] {
  if (isStream) return readStream(bytes());
  return [...replayReply(messagesUpstreamTranslator.readReply(JSON.parse(bytes().toString("utf8"))))];
}

/** A whole message cannot hold arguments that were cut off: it holds what of them is whole. */
function withoutCutArguments(facts: Digest): Digest {
  const isCut = facts.tools.some(({ args }) => typeof args === "object" && args !== null && "$raw" in args);
  return isCut ? { ...facts, tools: [] } : facts;
}

describe("messages translator: recorded traffic", () => {
  if (recorded === undefined) {
    it(explainAbsence("messages translator"), function () {
      this.skip();
    });
    return;
  }
  const ofFormat = recorded.filter(({ protocol }) => protocol === "anthropic-messages");
  const replies = ofFormat.filter(({ httpStatus }) => httpStatus < 400);
  assert.ok(replies.length >= 36, "there is less recorded traffic than there should be");

  for (const reply of replies) {
    it(`${reply.id} keeps its facts as a stream and as a whole`, () => {
      const upstream = digest("anthropic-messages", reply.bytes());
      const events = eventsOf(reply);
      const stream = Buffer.from(writeStream(events));
      assert.deepEqual(checkGrammar("anthropic-messages", stream), []);
      assert.deepEqual(compare(upstream, digest("anthropic-messages", stream), { sameProtocol: false }), []);
      const whole = digest("anthropic-messages", Buffer.from(JSON.stringify(writeWhole(aggregateReply(events)))));
      const cutUpstream = withoutCutArguments(upstream);
      const client = cutUpstream === upstream ? whole : { ...whole, tools: [] };
      assert.deepEqual(compare(cutUpstream, client, { sameProtocol: false }), []);
    });

    it(`${reply.id} means the same when what was written is read again`, () => {
      const written = writeStream(eventsOf(reply));
      const again = writeStream(readStream(Buffer.from(written)));
      assert.deepEqual(
        compare(digest("anthropic-messages", Buffer.from(written)), digest("anthropic-messages", Buffer.from(again)), {
          sameProtocol: false,
        }),
        [],
      );
    });
  }

  // Remote tools and tools that only this vendor runs are refused; search results become marked text.
  const native = /stream-server-mcp$|server-code-execution$|citations-search-result$/;
  const requests = ofFormat.filter((fixture) => fixture.request() !== undefined && !native.test(fixture.id));
  assert.ok(requests.length >= 25, "there are fewer recorded requests than there should be");
  for (const fixture of requests) {
    it(`${fixture.id}: its request means the same when it was read and written`, () => {
      const body = JSON.parse(fixture.request()?.toString("utf8") ?? "{}");
      const read = messagesClientTranslator.readRequest(body, {
        protocol: "Anthropic",
        format: "Messages",
        capability: "Chat",
      });
      assert.deepEqual(read.unmapped, []);
      const { body: written, dropped } = writeBody(read, { model: body.model });
      assert.deepEqual(dropped, []);
      assert.deepEqual(factsOf(written), factsOf(body));
    });
  }
});

/** Members that must come through one to one; content in one form, thinking of the vendor's own aside. */
function factsOf(body: Record<string, unknown>): unknown {
  const { stream, system, messages, thinking, tools, ...others } = JSON.parse(JSON.stringify(body));
  return {
    ...others,
    stream: stream === true,
    system: blocksOf(system),
    messages: messages.map((message: { role: string; content: unknown }) => ({
      role: message.role,
      content: blocksOf(message.content),
    })),
    thinks: thinking?.type,
    budget: thinking?.budget_tokens,
    tools: tools?.map((tool: object) => Object.fromEntries(Object.entries(tool).filter(([, value]) => value !== null))),
  };
}

function blocksOf(content: unknown): unknown {
  if (content === undefined || typeof content === "string") return [{ type: "text", text: content ?? "" }];
  const blocks = Array.isArray(content) ? content : [];
  return blocks
    .filter(({ type }) => type !== "thinking" && type !== "redacted_thinking")
    .map((block) => (block.type === "tool_result" ? { ...block, content: resultOf(block.content) } : block));
}

/** One text may stand bare. */
function resultOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content.length === 1 && content[0].type === "text" ? content[0].text : content;
}
