/** What passes through a realtime session, and under which names (docs/design/realtime.md 2 and 3). */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type RealtimeRig, useRealtimeRig } from "#test/support/realtime/realtime-rig";
import { channelSecret, rawKey } from "#test/support/resilience/manifests";

describe("messages of a realtime session", function () {
  this.timeout(30_000);
  let rig: RealtimeRig;
  useRealtimeRig({}, (started) => {
    rig = started;
  });

  it("goes to the channel with its credential, its path and its name of the model", async () => {
    const client = await rig.connect({ headers: { "OpenAI-Beta": "realtime=v1", "X-Other": "1" } });
    const created = await client.waitFor("session.created");
    assert.deepEqual(created["session"], { type: "realtime", model: "talk" });
    const { url, headers } = rig.upstream.session;
    assert.equal(`${url.pathname}${url.search}`, "/v1/realtime?model=up-talk");
    assert.equal(headers.authorization, `Bearer ${channelSecret}`);
    assert.equal(headers["openai-beta"], "realtime=v1");
    assert.equal(headers["x-other"], undefined);
    assert.equal(headers["sec-websocket-protocol"], undefined);
    assert.ok(!JSON.stringify(headers).includes(rawKey("main")));
  });
  it("passes a conversation both ways", async () => {
    const client = await rig.connect();
    client.send({ type: "session.update", session: { type: "realtime", model: "talk", instructions: "be brief" } });
    const updated = await client.waitFor("session.updated");
    assert.deepEqual(updated["session"], { type: "realtime", model: "talk", instructions: "be brief" });
    client.send({ type: "response.create" });
    await client.waitFor("response.done");
    assert.deepEqual(
      client.events.map(({ type }) => type),
      ["session.created", "session.updated", "response.created", "response.output_text.delta", "response.done"],
    );
  });
});
