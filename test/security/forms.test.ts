/** docs/design/reliability.md E8 through an endpoint: no damaged form reaches an upstream, and nothing of one stays. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import { type ImageRig, imagesReply, startImageRig } from "#test/support/conformance/image-rig";
import { at } from "#test/support/digest/facts";
import { formRows } from "#test/support/form-rows";
import { waitFor } from "#test/support/wait-for";

const statuses: Readonly<Record<string, number>> = { invalid_form: 400, body_too_large: 413 };

describe("E8: forms at /v1/images/edits", () => {
  let rig: ImageRig;

  before(async () => {
    rig = await startImageRig();
    rig.upstream.replyWith({ body: imagesReply(1) });
  });
  afterEach(async () => {
    rig.upstream.forget();
    await waitFor("the files' end", () => rig.gateway.spooledBytes + rig.gateway.inFlightBytes === 0 || undefined);
    assert.equal(await rig.gateway.metric("tollgate_ledger_reservations_open"), 0);
  });
  after(() => rig?.close());

  for (const { name, body, boundary = "b", outcome } of formRows) {
    const isRefused = typeof outcome === "string";
    it(`${isRefused ? "refuses" : "never breaks over"} ${name}`, async () => {
      const headers = { "content-type": `multipart/form-data; boundary="${boundary}"` };
      const answer = await rig.call("/v1/images/edits", body, { headers });
      if (isRefused) {
        assert.equal(answer.status, statuses[outcome], answer.body.toString());
        assert.equal(typeof at(answer.json(), "error", "message"), "string");
      }
      // Whatever it reads as, it is none of an edit of a model that this key may call.
      assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status} ${answer.body}`);
      assert.equal(rig.upstream.requests.length, 0);
    });
  }
});
