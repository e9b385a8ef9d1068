/**
 * Every recorded reply to a client of every other format, streamed and not, through the whole gateway: the client
 * learns every fact that both formats can say, and gets a clean stream of its own format whatever the upstream's was.
 * A client of the same format that streams where the upstream did not, or the reverse, loses nothing at all.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { HttpAnswer } from "#test/support/conformance/http-call";
import { cuts, replay } from "#test/support/conformance/replay";
import { protocols, useTranslationRig } from "#test/support/conformance/translation-rig";
import { compare, type Difference } from "#test/support/digest/compare";
import { type Digest, type DigestProtocol, digest } from "#test/support/digest/digest";
import { checkGrammar } from "#test/support/digest/grammar";
import { explainAbsence, type Recorded, readRecorded } from "#test/support/digest/recorded";
import { type KnownLoss, knownLoss, knownLosses } from "./known-losses.ts";

const recorded = readRecorded();
const shortId = (reply: Recorded): string => reply.id.replace(/^upstream\//, "");
const isArray = (reply: Recorded): boolean => reply.id.includes("jsonarray");

const lineEnds = [
  { name: "with CRLF", end: "\r\n" },
  { name: "with CR", end: "\r" },
  { name: "with LF", end: "\n" },
];

describe("recorded replies to clients of other formats", () => {
  if (recorded === undefined) {
    it(explainAbsence("recorded replies to clients of other formats"));
    return;
  }
  const rig = useTranslationRig();
  const counts = { replies: 0, facts: 0, lost: 0 };
  const found = new Set<KnownLoss>();

  for (const reply of recorded) {
    const said = digest(reply.protocol, reply.bytes(), reply.httpStatus);
    for (const to of protocols) {
      // In its own format and manner it passes as bytes: another suite's matter.
      const manners = to === reply.protocol ? [!(reply.isStream || isArray(reply))] : [true, false];
      for (const stream of manners) {
        const manner = stream ? "streamed" : "whole";
        it(`tells ${to} clients ${shortId(reply)}, ${manner}`, async () => {
          rig().upstream.replyWith(replay(reply, () => Number.MAX_SAFE_INTEGER));
          const answer = await rig().call(to, reply.protocol, stream);
          const differences = judge(said, reply, answer, to, stream, (level) => {
            if (level === "should") counts.facts += 1;
          });
          const surprising = differences.filter(({ fact, level }) => {
            const loss = knownLoss(shortId(reply), to, fact);
            if (loss === undefined || (level === "must" && loss.isImpossible !== true)) return true;
            found.add(loss);
            return false;
          });
          counts.replies += 1;
          counts.lost += differences.filter(({ level }) => level === "should").length;
          assert.deepEqual(surprising, []);
        });
      }
      if (!reply.isStream || isArray(reply) || to === reply.protocol) continue;
      it(`tells ${to} clients ${shortId(reply)} however it is cut and its lines end`, async () => {
        rig().upstream.replyWith(replay(reply, () => Number.MAX_SAFE_INTEGER));
        const whole = digest(to, (await rig().call(to, reply.protocol, true)).body);
        for (const { name, pieces } of cuts) {
          rig().upstream.replyWith(replay(reply, pieces(reply.bytes().length)));
          assert.deepEqual(
            comparable(digest(to, (await rig().call(to, reply.protocol, true)).body)),
            comparable(whole),
            name,
          );
        }
        for (const { name, end } of lineEnds) {
          const bytes = (): Buffer =>
            Buffer.from(
              reply
                .bytes()
                .toString("utf8")
                .replace(/\r\n|\r|\n/g, end),
            );
          rig().upstream.replyWith(replay({ ...reply, bytes }, () => 97));
          assert.deepEqual(
            comparable(digest(to, (await rig().call(to, reply.protocol, true)).body)),
            comparable(whole),
            name,
          );
        }
      });
    }
  }

  it("lists no loss that there is not", () => {
    assert.deepEqual(
      knownLosses.filter((loss) => !found.has(loss)),
      [],
    );
  });

  it("keeps at least 95 of 100 facts that should be kept where both formats can hold them", () => {
    assert.equal(counts.replies, recorded.length * (3 * 2 + 1));
    assert.ok(counts.lost <= counts.facts / 20, `${counts.lost} of ${counts.facts} facts are lost`);
  });
});

/** Ids are minted afresh for each answer, what is sealed differs with them, and an error names its request. */
function comparable({ tools, signatures, error, ...facts }: Digest): unknown {
  const named = tools.map(({ name, args }) => ({ name, args }));
  return { ...facts, tools: named, signatures: signatures.length, error: error?.cls };
}

function judge(
  said: Digest,
  reply: Recorded,
  answer: HttpAnswer,
  to: DigestProtocol,
  stream: boolean,
  onCheck: (level: Difference["level"]) => void,
): readonly Difference[] {
  const told = digest(to, answer.body, answer.status);
  const sameProtocol = to === reply.protocol;
  const differences = compare(said, told, { sameProtocol, from: reply.protocol, to, onCheck });
  if (said.status === "error") {
    // A client that did not stream has no text before the error.
    const isStream = answer.status === 200;
    if (isStream) assert.equal(answer.isComplete, to !== "gemini", "a failed stream ends as its format wants");
    return differences.filter(
      ({ fact }) => ["status", "error class"].includes(fact) || (isStream && fact === "visible text"),
    );
  }
  assert.equal(answer.status, 200, answer.body.toString());
  assert.equal(answer.isComplete, true);
  if (stream) assert.deepEqual(checkGrammar(to, answer.body), []);
  return differences;
}
