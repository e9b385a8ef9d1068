/**
 * Every recorded request to an upstream of every other format, through the whole gateway: the upstream is asked what
 * the client asked. What no other format can say is refused with the client's own field, and stands in a list.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { callFormOf } from "../../support/conformance/chat-calls.ts";
import { httpCall } from "../../support/conformance/http-call.ts";
import { naturalReply } from "../../support/conformance/natural-replies.ts";
import { protocols, routeTo, useTranslationRig } from "../../support/conformance/translation-rig.ts";
import { explainAbsence, type Recorded, readRecorded } from "../../support/digest/recorded.ts";
import { compareRequests, digestRequest } from "../../support/digest/request/request-digest.ts";
import { isKnownRequestLoss, refusalOf } from "./known-request-losses.ts";

const withRequest = readRecorded()?.filter((reply) => reply.request() !== undefined);
const shortId = (reply: Recorded): string => reply.id.replace(/^upstream\//, "");

describe("recorded requests to upstreams of other formats", () => {
  if (withRequest === undefined) {
    it(explainAbsence("recorded requests to upstreams of other formats"));
    return;
  }
  const rig = useTranslationRig({ upstreamObjects: "Shared" });
  const counts = { compared: 0, withLoss: 0 };

  for (const reply of withRequest) {
    const recordedBody: unknown = JSON.parse((reply.request() ?? Buffer.alloc(0)).toString("utf8"));
    for (const to of protocols.filter((protocol) => protocol !== reply.protocol)) {
      const refusal = refusalOf(shortId(reply), to);
      const manner = refusal === undefined ? "asks" : "does not ask";
      it(`${manner} ${to} what ${shortId(reply)} asks`, async () => {
        const form = callFormOf(reply.protocol);
        const body = reply.protocol === "gemini" ? recordedBody : { ...Object(recordedBody), model: routeTo(to) };
        rig().upstream.forget();
        rig().upstream.replyWith(naturalReply);
        const answer = await httpCall({
          origin: rig().gateway.origin,
          path: form.path(routeTo(to), reply.isStream),
          headers: form.headers("main"),
          body: JSON.stringify(body),
        });
        if (refusal !== undefined) {
          assert.equal(answer.status, 400, answer.body.toString());
          assert.match(answer.body.toString(), refusal);
          assert.equal(rig().upstream.requests.length, 0);
          return;
        }
        assert.equal(answer.status, 200, answer.body.toString());
        const asked = digestRequest(reply.protocol, body);
        const sent = digestRequest(to, rig().upstream.requests[0]?.json());
        const differences = compareRequests(asked, sent, to);
        counts.compared += 1;
        if (differences.length > 0) counts.withLoss += 1;
        assert.deepEqual(
          differences.filter(({ fact }) => !isKnownRequestLoss(shortId(reply), to, fact)),
          [],
        );
      });
    }
  }

  it("has looked at every recorded request", () => {
    assert.equal(withRequest.length, 121);
    assert.ok(counts.compared > 300, `${counts.compared} compared, ${counts.withLoss} with a loss`);
  });
});
