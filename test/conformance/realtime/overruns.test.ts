/** What an upstream runs beyond a limit ends the session and is charged; what it never begins holds nobody else's place. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { usageOf } from "#test/support/realtime/fake-realtime";
import {
  lifetime,
  type RealtimeRig,
  realtimeChannel,
  realtimePrice,
  realtimeRoute,
  useRealtimeRig,
} from "#test/support/realtime/realtime-rig";
import { account, apiKey, secret } from "#test/support/resilience/manifests";
import { waitFor } from "#test/support/wait-for";

const hourly = (limit: string) => ({
  limits: [{ name: "rate", unit: "Requests", limit, period: "Hour", algorithm: "FixedWindow", mode: "Enforce" }],
});

describe("what a realtime upstream begins by itself", function () {
  this.timeout(30_000);
  let rig: RealtimeRig;
  useRealtimeRig(
    {
      objects: ([port = 0]) => [
        secret(),
        apiKey("main"),
        ...["speaks", "transcribes"].map((name) => apiKey(name, hourly("2"))),
        apiKey("capped", lifetime("OutputTokens", "5000")),
        account("thin", { credit: "0.3" }),
        apiKey("thin", { accountRef: { name: "thin" } }),
        realtimeChannel("c0", port),
        realtimeRoute("talk", ["c0"]),
        realtimeRoute("scribe", ["c0"]),
        realtimeRoute("dear", ["c0"], { price: { ...realtimePrice, perRequest: "0.5" } }),
      ],
    },
    (started) => {
      rig = started;
    },
  );

  it("a response beyond a rate is cancelled, and the session ends with 4429", async () => {
    const client = await rig.connect({ key: "speaks" });
    const { session } = rig.upstream;
    session.begin();
    const second = session.begin();
    session.say(second, "nobody asked me to say this");
    assert.equal((await client.waitClosed()).code, 4429);
    assert.equal(client.lastError["code"], "rate_limit_exceeded");
    assert.equal((await session.waitFor("response.cancel"))["response_id"], second);
    await rig.logLine("the session", ({ status, end }) => status === 101 && end === "RD");
  });

  it("a transcription beyond a rate ends the session with 4429", async () => {
    const client = await rig.connect({ key: "transcribes" });
    client.send({ type: "session.update", session: { audio: { input: { transcription: { model: "scribe" } } } } });
    await client.waitFor("session.updated");
    rig.upstream.session.transcribe("item_1", "one");
    rig.upstream.session.transcribe("item_2", "two");
    assert.equal((await client.waitClosed()).code, 4429);
    assert.equal(client.lastError["code"], "rate_limit_exceeded");
  });

  it("a transcription by a model that nobody named ends the session, and is not told", async () => {
    const client = await rig.connect();
    rig.upstream.session.transcribe("item_1", "for nothing", { type: "duration", seconds: 600 });
    const { code, reason } = await client.waitClosed();
    assert.deepEqual([code, client.lastError["code"]], [1011, "upstream_error"]);
    assert.match(reason, /transcribed/);
    assert.ok(!client.texts.join().includes("for nothing"));
  });

  it("a transcription that did not say that it began is charged by its usage", async () => {
    const client = await rig.connect();
    client.send({ type: "session.update", session: { audio: { input: { transcription: { model: "scribe" } } } } });
    await client.waitFor("session.updated");
    const line = rig.nextResponseLine();
    rig.upstream.session.send({
      type: "conversation.item.input_audio_transcription.completed",
      item_id: "item_1",
      transcript: "hello",
      usage: { type: "tokens", total_tokens: 30, input_tokens: 20, output_tokens: 10 },
    });
    const { model, tokens } = await line;
    assert.deepEqual([model, tokens], ["scribe", { input: 20, output: 10 }]);
  });

  it("what ran beyond a balance is taken from it at once", async () => {
    const client = await rig.connect({ key: "thin" });
    client.send({ type: "session.update", session: { audio: { input: { transcription: { model: "dear" } } } } });
    await client.waitFor("session.updated");
    rig.upstream.session.transcribe("item_1", "one");
    assert.equal((await client.waitClosed()).code, 4429);
    // A credit of 0.3 opened a session before; now 0.5 of it are gone.
    await waitFor("the charge", async () => (await rig.refused({ key: "thin" })).status === 429);
  });

  it("a response that is never begun keeps its own reservation, and not that of the next one", async () => {
    rig.upstream.script = (session, event) => {
      const { response } = event;
      if (event.type !== "response.create" || typeof response !== "object" || response === null) return;
      if (!("metadata" in response)) return;
      const id = session.begin({ metadata: response.metadata });
      session.finish(id, usageOf(10, 5));
    };
    const client = await rig.connect({ key: "capped" });
    client.send({ type: "response.create", response: { max_output_tokens: 4_000 } });
    client.send({ type: "response.create", response: { max_output_tokens: 500, metadata: { which: "second" } } });
    await client.waitFor("response.done");
    // 4,000 are still held for the first.
    client.send({ type: "response.create", response: { max_output_tokens: 1_100 } });
    await client.waitFor("error");
    assert.equal(client.lastError["code"], "insufficient_quota");
  });

  it("counts attempts: each session that is opened, and each response", async () => {
    const attempts = (): Promise<number> => rig.gateway.metric("tollgate_upstream_attempts_total", { outcome: "ok" });
    const before = await attempts();
    const client = await rig.connect();
    client.send({ type: "response.create" });
    await client.waitFor("response.done");
    client.socket.close(1000);
    await rig.settleDown();
    assert.equal((await attempts()) - before, 2);
  });
});

describe("quota.unboundedOutput Cap in a realtime session", function () {
  this.timeout(30_000);
  let rig: RealtimeRig;
  useRealtimeRig({ flags: ["--quota-unbounded-output=Cap", "--quota-default-output-reserve=700"] }, (started) => {
    rig = started;
  });

  for (const [name, response, sent] of [
    ["a response without a cap", undefined, { max_output_tokens: 700 }],
    ["one that asks for no cap", { max_output_tokens: "inf" }, { max_output_tokens: 700 }],
    ["one with a cap of its own", { max_output_tokens: 900 }, { max_output_tokens: 900 }],
  ] as const) {
    it(`${response?.max_output_tokens === 900 ? "leaves" : "caps"} ${name}`, async () => {
      const client = await rig.connect();
      client.send({ type: "response.create", ...(response === undefined ? {} : { response }) });
      assert.deepEqual((await rig.upstream.session.waitFor("response.create"))["response"], sent);
    });
  }

  it("caps a session, so that a response that the upstream begins by itself is capped too", async () => {
    const client = await rig.connect();
    client.send({ type: "session.update", session: { type: "realtime", instructions: "be brief" } });
    client.send({ type: "session.update", session: { instructions: "be briefer" } });
    await client.waitFor("session.updated", 2);
    client.send({ type: "response.create" });
    await client.waitFor("response.done");
    const [first, second] = rig.upstream.session.of("session.update").map(({ session }) => session);
    assert.deepEqual(first, { type: "realtime", instructions: "be brief", max_output_tokens: 700 });
    assert.deepEqual(second, { instructions: "be briefer", max_response_output_tokens: 700 });
    assert.equal((await rig.upstream.session.waitFor("response.create"))["response"], undefined);
  });
});
