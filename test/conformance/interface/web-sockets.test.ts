/**
 * pitfall 169: Codex asks for a WebSocket first, and uses HTTP at once where it is told 426 (RFC 9110 section 15.5.22).
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { httpCall } from "#test/support/conformance/http-call";
import { clientKey } from "#test/support/conformance/manifests";
import { useTranslationRig } from "#test/support/conformance/translation-rig";

const upgrade = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
};

describe("pitfall 169: a WebSocket for responses", () => {
  const rig = useTranslationRig();

  for (const path of ["/v1/responses", "/responses", "/v1/responses?api-version=1"]) {
    for (const [who, headers] of [
      ["with a key", { authorization: `Bearer ${clientKey("main")}` }],
      ["without one", {}],
    ] as const) {
      it(`${path}, ${who}: 426, and the log has the client's address`, async () => {
        const answer = await httpCall({ origin: rig().gateway.origin, path, headers: { ...upgrade, ...headers } });
        assert.equal(answer.status, 426, answer.body.toString());
        assert.equal(answer.header("upgrade"), "HTTP/1.1");
        assert.equal(Object(answer.json()).error.code, "upgrade_required");
        const record = await rig().gateway.recordOf(String(answer.header("x-request-id")));
        assert.equal(record.clientAddress, "127.0.0.1");
      });
    }
  }

  it("GET without an upgrade is 405", async () => {
    const answer = await httpCall({ origin: rig().gateway.origin, path: "/v1/responses" });
    assert.equal(answer.status, 405);
  });
});
