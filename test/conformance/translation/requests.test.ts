/**
 * Every recorded request to an upstream of every other format, through the whole gateway: the upstream is asked what
 * the client asked. What no other format can say is refused with the client's own field, and stands in a list.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { callFormOf } from "#test/support/conformance/chat-calls";
import { httpCall } from "#test/support/conformance/http-call";
import { naturalReply } from "#test/support/conformance/natural-replies";
import { protocols, routeTo, thinkingRoute, useTranslationRig } from "#test/support/conformance/translation-rig";
import { explainAbsence, type Recorded, readRecorded } from "#test/support/digest/recorded";
import { compareRequests, digestRequest } from "#test/support/digest/request/request-digest";
import { isKnownRequestLoss, refusalOf } from "./known-request-losses.ts";

const withRequest = readRecorded()?.filter((reply) => reply.request() !== undefined);
const shortId = (reply: Recorded): string => reply.id.replace(/^upstream\//, "");

const picture = Buffer.from("89504e470d0a1a0a", "hex");

/** Pictures on the internet are taken from the test's own server instead; other addresses are text. */
function withPictures(body: unknown, address: string): unknown {
  const text = JSON.stringify(body);
  return JSON.parse(text.replace(/"(?:https?:\/\/[^"\s]+\.(?:png|jpe?g|webp|gif))"/g, () => JSON.stringify(address)));
}

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
        const { thinking, temperature } = digestRequest(reply.protocol, recordedBody);
        const thinks = to === "openai-responses" && thinking === true && temperature === null;
        const model = thinks ? thinkingRoute : routeTo(to);
        const pictured = withPictures(recordedBody, `${rig().upstream.origin}/picture.png`);
        const body = reply.protocol === "gemini" ? pictured : { ...Object(pictured), model };
        rig().upstream.forget();
        rig().upstream.replyWith((request) =>
          request.method === "GET"
            ? { headers: { "content-type": "image/png" }, body: picture }
            : naturalReply(request),
        );
        const answer = await httpCall({
          origin: rig().gateway.origin,
          path: form.path(model, reply.isStream),
          headers: form.headers("main"),
          body: JSON.stringify(body),
        });
        if (refusal !== undefined) {
          assert.equal(answer.status, 400, answer.body.toString());
          assert.match(answer.body.toString(), refusal);
          assert.deepEqual(rig().upstream.requests, []);
          return;
        }
        assert.equal(answer.status, 200, answer.body.toString());
        const fetched = to === "gemini" ? `data:image/png;base64,${picture.toString("base64")}` : undefined;
        const asked = digestRequest(reply.protocol, fetched === undefined ? body : withPictures(body, fetched));
        const sent = digestRequest(to, rig().upstream.requests.at(-1)?.json());
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
