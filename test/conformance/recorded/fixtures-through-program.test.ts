/**
 * A sample of the recorded replies through the real program: what `fixtures-through-gateway.test.ts` shows of all of
 * them in one process holds with processes, push and files between, and the access log tells the same numbers.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { callFormOf } from "#test/support/conformance/chat-calls";
import { httpCall } from "#test/support/conformance/http-call";
import {
  channelManifest,
  channelSecretManifest,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { editedReplies } from "#test/support/conformance/recorded-edits";
import { expectedErrors } from "#test/support/conformance/recorded-errors";
import { cuts, replay } from "#test/support/conformance/replay";
import { compare } from "#test/support/digest/compare";
import { digest } from "#test/support/digest/digest";
import { explainAbsence, type Recorded, readRecorded } from "#test/support/digest/recorded";
import { FakeUpstream } from "#test/support/fake-upstream";
import { type Gateway, startGateway } from "#test/support/start-gateway";
import { waitFor } from "#test/support/wait-for";

const recorded = readRecorded();
const shortId = (reply: Recorded): string => reply.id.replace(/^upstream\//, "");

/** The shortest and the longest stream, one with tools, a whole reply and the first error of each protocol. */
function sampleOf(all: readonly Recorded[]): readonly Recorded[] {
  return [...new Set(all.map(({ protocol }) => protocol))].flatMap((protocol) => {
    const own = all
      .filter((reply) => reply.protocol === protocol && !reply.id.includes("jsonarray"))
      .toSorted((left, right) => left.bytes().length - right.bytes().length);
    const streams = own.filter((reply) => reply.isStream && reply.expected["status"] === "ok");
    return [
      streams.at(0),
      streams.find(({ id }) => id.includes("tool")),
      streams.at(-1),
      own.find((reply) => !reply.isStream && reply.httpStatus === 200),
      own.find((reply) => reply.httpStatus >= 400),
    ].filter((reply) => reply !== undefined);
  });
}

describe("recorded replies through the program", function () {
  this.timeout(30_000);
  if (recorded === undefined) {
    it(explainAbsence("recorded replies through the program"));
    return;
  }
  let upstream: FakeUpstream;
  let gateway: Gateway;

  before(async () => {
    upstream = await FakeUpstream.start();
    gateway = await startGateway({
      manifests: {
        "all.yaml": manifestOf(
          channelSecretManifest(),
          keyManifest("main"),
          channelManifest("recorded", upstream.origin),
          routeManifest("recorded", { failover: { maxAttempts: 1 } }),
        ),
      },
    }).catch(async (error: unknown) => {
      await upstream.close();
      throw error;
    });
    await gateway.waitUntilServed("default/main", "recorded");
  });
  after(async () => {
    await gateway?.close();
    await upstream.close();
  });

  for (const reply of sampleOf(recorded)) {
    it(`passes ${shortId(reply)} and logs what it cost`, async () => {
      const said = digest(reply.protocol, reply.bytes(), reply.httpStatus);
      const form = callFormOf(reply.protocol);
      for (const { name, pieces } of cuts) {
        upstream.replyWith(replay(reply, pieces(reply.bytes().length)));
        const answer = await httpCall({
          origin: gateway.origin,
          path: form.path("recorded", reply.isStream),
          headers: form.headers("main"),
          body: JSON.stringify(form.body("recorded", reply.isStream)),
        });
        if (said.status === "error") {
          assert.equal(answer.status, expectedErrors[shortId(reply)]?.status, name);
          continue;
        }
        assert.equal(answer.isComplete, true);
        assert.deepEqual(compare(said, digest(reply.protocol, answer.body), { sameProtocol: true }), [], name);
        if (editedReplies[shortId(reply)] === undefined) assert.equal(answer.body.equals(reply.bytes()), true, name);
        const id = answer.header("x-request-id");
        const line = await waitFor("its line in the access log", () =>
          gateway.accessLog.find((entry) => Object.values(entry).includes(id)),
        );
        checkLine(line, said.usage);
      }
    });
  }
});

/** The log's classes are disjoint: each side of the call is the sum of its own. */
function checkLine(line: Readonly<Record<string, unknown>>, usage: ReturnType<typeof digest>["usage"]): void {
  if (usage === null) return;
  const tokens: Readonly<Record<string, unknown>> = Object(line["tokens"]);
  const sum = (...classes: readonly string[]): number =>
    classes.reduce((total, name) => total + Number(tokens[name] ?? 0), 0);
  assert.equal(sum("input", "cache_read", "cache_write", "cache_write_1h", "audio_input", "image_input"), usage.input);
  assert.equal(sum("output", "reasoning", "audio_output", "image_output"), usage.output);
  assert.equal(line["estimated"] === true, false);
}
