/**
 * Every recorded reply in the other manner of its own format: whatever a whole one says comes back of its stream to the
 * last member, and a stream says whole what it said streamed.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { InvalidReply } from "#proxy/neutral/reply";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { splitEvents } from "#proxy/sse/event-fields";
import { compare } from "#test/support/digest/compare";
import { type DigestProtocol, digest } from "#test/support/digest/digest";
import { checkGrammar } from "#test/support/digest/grammar";
import { explainAbsence, readRecorded } from "#test/support/digest/recorded";
import { aggregated, replayed } from "#test/support/translation/own-format-exchange";

const formatOf: Readonly<Record<DigestProtocol, ChatWireFormat>> = {
  "openai-chat": "ChatCompletions",
  "openai-responses": "Responses",
  "anthropic-messages": "Messages",
  gemini: "GenerateContent",
};

const recorded = readRecorded()?.filter(({ httpStatus, expected }) => httpStatus < 400 && expected["status"] === "ok");

/** Arguments cut at the limit are no object, which is all that a whole message can hold: mended. */
const mended = "anthropic-messages/stream-tool-truncated-max-tokens";

/** What the other manner must add, because the format demands it: an id to name an item by, a message in a choice. */
const completed: ReadonlySet<string> = new Set(["openai-responses/stream-refusal", "openai-chat/content-filter-azure"]);

/** Cuts of longer streams are spread over them. */
const cutsMax = 80;

describe("recorded replies in the other manner of their format", () => {
  if (recorded === undefined) {
    it(explainAbsence("recorded replies in the other manner of their format"));
    return;
  }
  for (const { id, protocol, isStream, bytes } of recorded) {
    const format = formatOf[protocol];
    const options = { sameProtocol: true, from: protocol, to: protocol };
    const name = id.replace(/^upstream\//, "");
    if (isStream || name.includes("jsonarray")) {
      it(`${name} says the same whole`, () => {
        const whole = Buffer.from(JSON.stringify(aggregated(format, bytes()).reply));
        const differences = compare(digest(protocol, bytes()), digest(protocol, whole), options);
        assert.deepEqual(
          differences.filter(({ fact }) => name !== mended || fact !== "tools"),
          [],
        );
      });

      if (!completed.has(name))
        it(`${name} says the same whole, streamed and whole again`, () => {
          const { reply } = aggregated(format, bytes());
          assert.deepEqual(aggregated(format, replayed(format, reply)).reply, reply);
        });

      it(`${name} is no reply when it is cut`, () => {
        const events = splitEvents(bytes());
        const step = Math.max(1, Math.floor(events.length / cutsMax));
        for (let count = 1; count < events.length; count += step) {
          const cut = Buffer.concat(events.slice(0, count));
          if (digest(protocol, cut).finish === null)
            assert.throws(() => aggregated(format, cut), InvalidReply, `${count}`);
        }
      });
    } else {
      it(`${name} says the same as a stream`, () => {
        const reply = JSON.parse(bytes().toString("utf8"));
        const stream = replayed(format, reply);
        assert.deepEqual(checkGrammar(protocol, stream), []);
        assert.deepEqual(compare(digest(protocol, bytes()), digest(protocol, stream), options), []);
      });

      if (!completed.has(name))
        it(`${name} comes back of its stream to the last member`, () => {
          const reply = JSON.parse(bytes().toString("utf8"));
          assert.deepEqual(aggregated(format, replayed(format, reply)).reply, reply);
        });
    }
  }
});
