import assert from "node:assert/strict";
import { isObject } from "../../../../../proxy/protocols/json-value.ts";
import { foldReply } from "../../../../../proxy/translate/fold-reply.ts";
import { generateContentTranslator } from "../../../../../proxy/translate/generate-content/translator.ts";
import { parseJsonText } from "../../../../../proxy/translate/json-text.ts";
import type { ReplyEvent } from "../../../../../proxy/translate/reply.ts";
import { unfoldReply } from "../../../../../proxy/translate/unfold-reply.ts";
import { compare } from "../../../../support/digest/compare.ts";
import { digest } from "../../../../support/digest/digest.ts";
import { checkGrammar } from "../../../../support/digest/grammar.ts";
import { parseReply } from "../../../../support/digest/parse-reply.ts";
import { explainAbsence, type Recorded, readRecorded } from "../../../../support/digest/recorded.ts";
import { contextOf, readFrames, streamOf } from "./replay.ts";

const all = readRecorded();
const replies = (all ?? []).filter(({ protocol, expected }) => protocol === "gemini" && expected["status"] === "ok");
/** The client wants to see everything. */
const curious = { reasoning: { mode: "auto", show: true }, sampling: { logprobs: true } } as const;

describe("recorded answers of generateContent, read and written again", () => {
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
      const reply = foldReply(eventsOf(recorded));
      assertSame(
        recorded,
        Buffer.from(JSON.stringify(generateContentTranslator.writeReply(reply, contextOf(curious)))),
      );
    });

    it(`${recorded.id} says the same folded and unfolded`, () => {
      const reply = foldReply(eventsOf(recorded));
      assert.deepEqual(foldReply(unfoldReply(reply)), reply);
    });
  }
});

function eventsOf(recorded: Recorded): readonly ReplyEvent[] {
  const { events, body } = parseReply(recorded.bytes());
  if (events !== undefined) return readFrames(events.map(({ json }) => json));
  if (Array.isArray(body)) return readFrames(body);
  const json = parseJsonText(recorded.bytes().toString());
  assert.ok(isObject(json));
  return [...unfoldReply(generateContentTranslator.readReply(json))];
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
