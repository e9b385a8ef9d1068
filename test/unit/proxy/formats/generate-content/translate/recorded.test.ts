import assert from "node:assert/strict";
import { generateContentClientTranslator } from "#proxy/formats/generate-content/translate/client-translator";
import { generateContentUpstreamTranslator } from "#proxy/formats/generate-content/translate/upstream-translator";
import { parseJsonText } from "#proxy/json/json-text";
import { isObject } from "#proxy/json/json-value";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { replayReply } from "#proxy/neutral/replay-reply";
import type { ReplyEvent } from "#proxy/neutral/reply";
import { compare } from "#test/support/digest/compare";
import { digest } from "#test/support/digest/digest";
import { checkGrammar } from "#test/support/digest/grammar";
import { parseReply } from "#test/support/digest/parse-reply";
import { explainAbsence, type Recorded, readRecorded } from "#test/support/digest/recorded";
import { contextOf, readFrames, streamOf } from "./replay.ts";

const all = readRecorded();
const replies = (all ?? []).filter(({ protocol, expected }) => protocol === "gemini" && expected["status"] === "ok");
/** The client wants to see everything. */
const curious = { reasoning: { mode: "auto", show: true }, sampling: { logprobs: true } } as const;

describe("recorded replies of generateContent, read and written again", () => {
  if (all === undefined) {
    it(explainAbsence("generateContent"));
    return;
  }

  for (const recorded of replies) {
    it(`${recorded.id} keeps its facts as a stream`, () => {
      const got = Buffer.from(streamOf(eventsOf(recorded), contextOf(curious)));
      assert.deepEqual(checkGrammar("gemini", got), []);
      assertSame(recorded, got);
    });

    it(`${recorded.id} keeps its facts as an array`, () => {
      assertSame(recorded, Buffer.from(streamOf(eventsOf(recorded), contextOf(curious, "array"))));
    });

    it(`${recorded.id} keeps its facts as a body`, () => {
      const reply = aggregateReply(eventsOf(recorded));
      assertSame(
        recorded,
        Buffer.from(JSON.stringify(generateContentClientTranslator.writeReply(reply, contextOf(curious)))),
      );
    });

    it(`${recorded.id} says the same aggregated and replayed`, () => {
      const reply = aggregateReply(eventsOf(recorded));
      assert.deepEqual(aggregateReply(replayReply(reply)), reply);
    });
  }
});

function eventsOf(recorded: Recorded): readonly ReplyEvent[] {
  const { events, body } = parseReply(recorded.bytes());
  if (events !== undefined) return readFrames(events.map(({ json }) => json));
  if (Array.isArray(body)) return readFrames(body);
  const json = parseJsonText(recorded.bytes().toString());
  assert.ok(isObject(json));
  return [...replayReply(generateContentUpstreamTranslator.readReply(json))];
}

/** Between protocols signatures and server tools are not compared, and ids are new; all else must be equal here. */
function assertSame(recorded: Recorded, got: Buffer): void {
  const upstream = digest("gemini", recorded.bytes());
  const differences = compare(upstream, digest("gemini", got), { sameProtocol: false });
  assert.deepEqual(
    differences.filter(({ fact }) => fact !== "tool ids"),
    [],
  );
}
