/**
 * Any whole reply of a format, with members and types that nobody knows: its stream tells all of it, however the bytes
 * of the stream are split, and no part of the stream passes for the whole.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { upstreamFormats } from "#proxy/formats/registry";
import { InvalidReply } from "#proxy/neutral/reply";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { splitEvents } from "#proxy/sse/event-fields";
import { checkGrammar } from "#test/support/digest/grammar";
import { callOf } from "#test/support/digest/stream-call";
import { anyOwnReply } from "#test/support/translation/any-own-reply";
import { aggregated, replayed } from "#test/support/translation/own-format-exchange";

const protocolOf = {
  ChatCompletions: "openai-chat",
  Responses: "openai-responses",
  Messages: "anthropic-messages",
  GenerateContent: "gemini",
} as const;
const formats: readonly ChatWireFormat[] = ["ChatCompletions", "Responses", "Messages", "GenerateContent"];

describe("any reply in the other manner of its format", () => {
  for (const format of formats) {
    it(`${format}: comes back of its stream to the last member`, () => {
      fc.assert(
        fc.property(anyOwnReply[format], (reply) => {
          const stream = replayed(format, reply);
          assert.deepEqual(checkGrammar(protocolOf[format], stream), []);
          assert.deepEqual(aggregated(format, stream), { reply, lost: [] });
        }),
        { numRuns: 300 },
      );
    });

    it(`${format}: passes the format's own filter as a whole stream, however it is split`, () => {
      fc.assert(
        fc.property(anyOwnReply[format], fc.nat(), (reply, seed) => {
          const stream = replayed(format, reply);
          const at = seed % (stream.length + 1);
          const filter = upstreamFormats[format].createStreamFilter(callOf(upstreamFormats[format]), 1 << 24);
          const pieces = [...filter.push(stream.subarray(0, at)), ...filter.push(stream.subarray(at)), ...filter.end()];
          assert.equal(filter.isComplete, true);
          assert.deepEqual(aggregated(format, Buffer.concat(pieces)).reply, reply);
        }),
      );
    });

    it(`${format}: is no reply without its last event`, () => {
      fc.assert(
        fc.property(anyOwnReply[format], (reply) => {
          const events = splitEvents(replayed(format, reply));
          for (let count = 1; count < events.length; count += 1) {
            assert.throws(() => aggregated(format, Buffer.concat(events.slice(0, count))), InvalidReply, `${count}`);
          }
        }),
        { numRuns: 30 },
      );
    });
  }
});
