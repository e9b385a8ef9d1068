/** What an upstream refuses holds for nothing, and its reasons tell nothing of the channel's account (docs/design/realtime.md 2 to 4). */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { memberAt } from "#proxy/json/json-value";
import { type FakeSession, type RealtimeEvent, usual } from "#test/support/realtime/fake-realtime";
import {
  lifetime,
  type RealtimeRig,
  realtimeChannel,
  realtimeRoute,
  useRealtimeRig,
} from "#test/support/realtime/realtime-rig";
import { apiKey, secret } from "#test/support/resilience/manifests";

const transcribing = (model: string) => ({ audio: { input: { transcription: { model } } } });

/** Refuses every update whose id begins with `no`, as a provider does. */
function refusing(session: FakeSession, event: RealtimeEvent): void {
  const id = event["event_id"];
  if (event.type !== "session.update" || typeof id !== "string" || !id.startsWith("no")) usual(session, event);
  else {
    const error = { type: "invalid_request_error", code: "invalid_value", message: "no", event_id: id };
    session.send({ type: "error", event_id: "up_e", error });
  }
}

describe("what a realtime upstream refuses", function () {
  this.timeout(30_000);
  let rig: RealtimeRig;
  useRealtimeRig(
    {
      objects: ([port = 0]) => [
        secret(),
        apiKey("main"),
        apiKey("capped", lifetime("OutputTokens", "5000")),
        realtimeChannel("c0", port),
        realtimeRoute("talk", ["c0"]),
        realtimeRoute("scribe", ["c0"]),
        realtimeRoute("clock", ["c0"], { price: { perMinuteAudio: "0.001" } }),
      ],
    },
    (started) => {
      rig = started;
    },
  );

  it("names no model by which a transcription is charged", async () => {
    rig.upstream.script = refusing;
    const client = await rig.connect();
    client.send({ type: "session.update", session: transcribing("scribe") });
    await client.waitFor("session.updated");
    client.send({ type: "session.update", event_id: "no1", session: transcribing("clock") });
    await client.waitFor("error");
    const line = rig.nextResponseLine();
    rig.upstream.session.transcribe("item_1", "hello");
    assert.equal((await line)["model"], "scribe");
  });

  it("names none before the upstream has taken it", async () => {
    rig.upstream.script = () => undefined;
    const client = await rig.connect();
    client.send({ type: "session.update", session: transcribing("scribe") });
    const { session } = rig.upstream;
    await session.waitFor("session.update");
    session.send({ type: "session.updated", session: transcribing("up-scribe") });
    client.send({ type: "session.update", session: transcribing("clock") });
    await session.waitFor("session.update", 2);
    const line = rig.nextResponseLine();
    session.transcribe("item_1", "hello");
    assert.equal((await line)["model"], "scribe");
  });

  it("names none in a message of another kind", async () => {
    rig.upstream.script = refusing;
    const client = await rig.connect();
    client.send({ type: "session.update", session: transcribing("scribe") });
    await client.waitFor("session.updated");
    client.send({ type: "input_audio_buffer.clear", session: transcribing("clock") });
    await rig.upstream.session.waitFor("input_audio_buffer.clear");
    client.send({ type: "session.update", session: { instructions: "be brief" } });
    await client.waitFor("session.updated", 2);
    const line = rig.nextResponseLine();
    rig.upstream.session.transcribe("item_1", "hello");
    assert.equal((await line)["model"], "scribe");
  });

  it("caps nothing", async () => {
    rig.upstream.script = (session, event) => {
      if (event.type !== "response.create") refusing(session, event);
    };
    const client = await rig.connect({ key: "capped" });
    client.send({ type: "session.update", event_id: "no1", session: { max_output_tokens: 10 } });
    await client.waitFor("error");
    // 4,096 are reserved for the first, and 4,096 do not fit beside them.
    client.send({ type: "response.create" });
    await rig.upstream.session.waitFor("response.create");
    client.send({ type: "response.create" });
    await client.waitFor("error", 2);
    assert.equal(client.lastError["code"], "insufficient_quota");
  });

  const spent = {
    type: "insufficient_quota",
    code: "insufficient_quota",
    message: "You exceeded your current quota, org-abcdef123456: see https://platform.example.com/billing",
  };

  it("says of a response that failed nothing of the channel's account", async () => {
    rig.upstream.script = (session, { type }) => {
      if (type !== "response.create") return;
      const response = { id: session.begin(), status: "failed", status_details: { type: "failed", error: spent } };
      session.send({ type: "response.done", event_id: "up_d", response });
    };
    const client = await rig.connect();
    client.send({ type: "response.create" });
    const done = await client.waitFor("response.done");
    assert.deepEqual(
      [memberAt(done, "response", "status"), memberAt(done, "response", "status_details", "error", "code")],
      ["failed", "no_available_channel"],
    );
    assert.ok(!/org-|quota|platform/.test(JSON.stringify(done)), JSON.stringify(done));
  });

  it("says of a transcription that failed nothing of the channel's account", async () => {
    const client = await rig.connect();
    const type = "conversation.item.input_audio_transcription.failed";
    rig.upstream.session.send({ type, event_id: "up_f", item_id: "item_1", content_index: 0, error: spent });
    const failed = await client.waitFor(type);
    assert.deepEqual([failed["item_id"], memberAt(failed, "error", "code")], ["item_1", "no_available_channel"]);
    assert.ok(!/org-|quota|platform/.test(JSON.stringify(failed)), JSON.stringify(failed));
  });
});
