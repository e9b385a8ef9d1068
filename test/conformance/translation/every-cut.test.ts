/**
 * Every recorded stream to clients of every other format, without a network: however its bytes are split the client gets
 * the same bytes, and cut behind any event it ends in an error, unless the provider had said that this was all.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { GatewayError } from "#proxy/errors";
import type { StreamFilter } from "#proxy/formats/format";
import { upstreamFormats } from "#proxy/formats/registry";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { splitEvents } from "#proxy/sse/event-fields";
import type { DigestProtocol } from "#test/support/digest/digest";
import { explainAbsence, readRecorded } from "#test/support/digest/recorded";
import { formats, smallestCalls, translationOf } from "#test/support/translation/pure-translation";

const streams = readRecorded()?.filter((reply) => reply.isStream);

const formatOf: Readonly<Record<DigestProtocol, ChatWireFormat>> = {
  "openai-chat": "ChatCompletions",
  "openai-responses": "Responses",
  "anthropic-messages": "Messages",
  gemini: "GenerateContent",
};

/** More would take minutes; the places are spread over the whole stream. */
const eventCutsMax = 60;
const byteSplitsMax = 120;
const eventBytesMax = 1 << 20;
const signsOfSuccess = /data: \[DONE\]|"type":"(?:message_stop|response\.completed|response\.incomplete)"/;

describe("recorded streams split and cut everywhere", () => {
  if (streams === undefined) {
    it(explainAbsence("recorded streams split and cut everywhere"));
    return;
  }
  for (const stream of streams) {
    const from = formatOf[stream.protocol];
    const name = stream.id.replace(/^upstream\//, "");
    for (const to of formats.filter((format) => format !== from)) {
      it(`says the same to ${to} clients however ${name} is split`, () => {
        const bytes = stream.bytes();
        const whole = told(meterOf(from, to), [bytes]);
        assert.equal(
          told(
            meterOf(from, to),
            Array.from(bytes, (byte) => Buffer.of(byte)),
          ),
          whole,
          "byte by byte",
        );
        for (const at of spread(bytes.length, byteSplitsMax)) {
          const pieces = [bytes.subarray(0, at), bytes.subarray(at)];
          assert.equal(told(meterOf(from, to), pieces), whole, `split at ${at}`);
        }
      });

      it(`never takes a part of ${name} for the whole, for ${to} clients`, () => {
        const events = splitEvents(stream.bytes());
        for (const count of spread(events.length, eventCutsMax)) {
          const cut = Buffer.concat(events.slice(0, count));
          // The provider's own format decides what is a whole answer.
          const own = upstreamFormats[from].createStreamFilter(callOf(from), eventBytesMax);
          own.push(cut);
          own.end();
          const isWhole = own.isComplete && own.error === undefined;
          const filter = meterOf(from, to);
          const said = told(filter, [cut]);
          assert.equal(filter.isComplete && filter.error === undefined, isWhole, `${count} events`);
          if (!isWhole) assert.doesNotMatch(said, signsOfSuccess, `${count} events`);
        }
      });
    }
  }
});

/** Numbers from 1 to the last, all or evenly spread. */
function spread(last: number, countMax: number): readonly number[] {
  const count = Math.min(last, countMax);
  return Array.from({ length: count }, (_, index) => Math.max(1, Math.round(((index + 1) * last) / count)));
}

function callOf(format: ChatWireFormat) {
  const other = format === "Messages" ? "ChatCompletions" : "Messages";
  return { ...translationOf(format, other, smallestCalls[other], true).upstreamCall, wantsStreamUsage: true };
}

function meterOf(from: ChatWireFormat, to: ChatWireFormat) {
  return translationOf(from, to, smallestCalls[to], true).createStreamFilter(eventBytesMax);
}

/** All that a client gets, the error of a stream that failed at its end. */
function told(filter: ReturnType<typeof meterOf>, pieces: readonly Buffer[]): string {
  const said: Buffer[] = [];
  for (const piece of pieces) if (isGoing(filter)) said.push(...filter.push(piece));
  if (isGoing(filter)) said.push(...filter.end());
  if (!filter.isComplete || filter.error !== undefined) {
    said.push(filter.fail(new GatewayError("upstream_error", "The upstream failed."), { requestId: "r" }));
  }
  return Buffer.concat(said).toString("utf8");
}

function isGoing(filter: StreamFilter): boolean {
  return filter.error === undefined && filter.violation === undefined;
}
