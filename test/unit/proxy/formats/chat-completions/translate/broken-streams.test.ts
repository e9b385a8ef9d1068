import assert from "node:assert/strict";
import fc from "fast-check";
import { chatCompletionsUpstreamTranslator } from "#proxy/formats/chat-completions/translate/upstream-translator";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { InvalidReply, type ReplyEvent } from "#proxy/neutral/reply";
import { readEventFields, splitEvents } from "#proxy/sse/event-fields";
import { checkGrammar } from "#test/support/digest/grammar";
import { explainAbsence, readRecorded } from "#test/support/digest/recorded";
import { writeStream, writeWhole } from "#test/support/translation/chat-exchange";
import { brokenPromises } from "#test/support/translation/check-promises";
import { legalEvents } from "#test/support/translation/legal-events";

const recorded = readRecorded();

function dataOf(bytes: Buffer): string[] {
  return splitEvents(bytes).flatMap((event) => readEventFields(event).data ?? []);
}

/** @returns undefined for a stream that the reader refuses */
function read(events: readonly string[]): ReplyEvent[] | undefined {
  const reader = chatCompletionsUpstreamTranslator.createStreamReader();
  try {
    return [...events.flatMap((data) => [...reader.read({ name: undefined, data })]), ...reader.end()];
  } catch (error) {
    assert.ok(error instanceof InvalidReply, String(error));
    return undefined;
  }
}

type Mutation = (events: string[], at: number, other: number) => void;

const mutations: Readonly<Record<string, Mutation>> = {
  "is lost": (events, at) => void events.splice(at, 1),
  "comes twice": (events, at) => void events.splice(at, 0, events[at] ?? ""),
  "changes places with another": (events, at, other) => {
    [events[at], events[other]] = [events[other] ?? "", events[at] ?? ""];
  },
  "is cut": (events, at, other) => {
    events[at] = events[at]?.slice(0, other) ?? "";
  },
  "loses a member": (events, at) => {
    events[at] = events[at]?.replace(/"(?:index|id|name|delta|role|finish_reason)":/, '"x":') ?? "";
  },
  "has null for something": (events, at) => {
    events[at] = events[at]?.replace(/:(?:"[^"]*"|\d+|\{)/, ":null") ?? "";
  },
};

describe("chat completions stream reader: recorded streams that broke", () => {
  if (recorded === undefined) {
    it(explainAbsence("broken streams"), function () {
      this.skip();
    });
    return;
  }
  const streams = recorded.filter(
    ({ protocol, isStream, expected }) => protocol === "openai-chat" && isStream && expected["status"] !== "error",
  );

  for (const { id, bytes } of streams) {
    it(`keeps every promise on ${id}`, () => assert.deepEqual(brokenPromises(read(dataOf(bytes())) ?? []), []));
  }

  for (const [name, mutate] of Object.entries(mutations)) {
    it(`is refused, or keeps every promise, when an event ${name}`, () => {
      const sources = streams.map(({ bytes }) => dataOf(bytes()));
      fc.assert(
        fc.property(fc.nat(), fc.nat(), fc.nat(), (which, at, other) => {
          const source = sources[which % sources.length] ?? [];
          const events = [...source];
          mutate(events, at % source.length, other % source.length);
          const got = read(events);
          if (got === undefined) return;
          assert.deepEqual(brokenPromises(got), []);
          assert.deepEqual(checkGrammar("openai-chat", Buffer.from(writeStream(got))), []);
          writeWhole(aggregateReply(got));
        }),
        { numRuns: 150 },
      );
    });
  }
});

describe("chat completions stream writer: events of any legal order", () => {
  it("make a clean stream", () => {
    fc.assert(
      fc.property(legalEvents, (events) => {
        assert.deepEqual(checkGrammar("openai-chat", Buffer.from(writeStream(events))), []);
      }),
      { numRuns: 200 },
    );
  });
});
