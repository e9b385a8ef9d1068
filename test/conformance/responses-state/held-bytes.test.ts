/** A call of a few bytes may go on from megabytes: they count as the bodies of requests do. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type HttpAnswer, httpCall } from "../../support/conformance/http-call.ts";
import { InProcessGateway } from "../../support/conformance/in-process-gateway.ts";
import {
  channelManifest,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "../../support/conformance/manifests.ts";
import { naturalReply } from "../../support/conformance/natural-replies.ts";
import { FakeUpstream } from "../../support/fake-upstream.ts";

describe("the bytes of a conversation that calls go on from", () => {
  it("are held as long as the call runs, within the bound of all bodies", async () => {
    const upstream = await FakeUpstream.start(naturalReply);
    const gateway = await InProcessGateway.start({
      limits: { inFlightBytesMax: 500_000 },
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("main"),
        channelManifest("chat", upstream.origin, { formats: [{ type: "ChatCompletions" }] }),
        routeManifest("chat"),
      ),
    });
    const create = (body: object): Promise<HttpAnswer> =>
      httpCall({
        origin: gateway.origin,
        path: "/v1/responses",
        headers: { authorization: `Bearer ${clientKey("main")}` },
        body: JSON.stringify({ model: "chat", ...body }),
      });
    try {
      const first = await create({ input: "x".repeat(200_000) });
      assert.equal(first.status, 200, first.body.toString());
      const goOn = () => create({ input: "and", previous_response_id: Object(first.json()).id });
      let held = 0;
      upstream.replyWith((asked) => {
        held = Math.max(held, gateway.inFlightBytes);
        return { ...naturalReply(asked), delayHeadMs: 300 };
      });
      const answers = await Promise.all([goOn(), goOn(), goOn(), goOn()]);
      assert.ok(held >= 200_000, `${held} bytes were held`);
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 503, 503]);
      assert.equal(gateway.inFlightBytes, 0);
      assert.equal(gateway.ledger.openCount, 0);
    } finally {
      await gateway.close();
      await upstream.close();
    }
  });
});
