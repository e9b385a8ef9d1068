/** What a realtime session is charged, and what happens at a ceiling (docs/design/realtime.md 4 and 5). */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { memberAt } from "#proxy/json/json-value";
import { type FakeSession, usageOf } from "#test/support/realtime/fake-realtime";
import { closeCodeOf, frame, rawRealtime } from "#test/support/realtime/raw-frames";
import {
  lifetime,
  type RealtimeRig,
  realtimeChannel,
  realtimeRoute,
  useRealtimeRig,
} from "#test/support/realtime/realtime-rig";
import { account, apiKey, secret } from "#test/support/resilience/manifests";

/** Of text, audio and images, some of it cached: docs/design/realtime.md 4. */
const mixed = {
  total_tokens: 200,
  input_tokens: 130,
  output_tokens: 70,
  input_token_details: {
    text_tokens: 60,
    audio_tokens: 50,
    image_tokens: 20,
    cached_tokens: 40,
    cached_tokens_details: { text_tokens: 30, audio_tokens: 10, image_tokens: 0 },
  },
  output_token_details: { text_tokens: 20, audio_tokens: 50 },
};

describe("charges of a realtime session", function () {
  this.timeout(30_000);
  let rig: RealtimeRig;
  useRealtimeRig(
    {
      objects: ([port = 0]) => [
        secret(),
        apiKey("main"),
        apiKey("two-requests", lifetime("Requests", "3")),
        apiKey("few-tokens", lifetime("OutputTokens", "5000")),
        apiKey("capped", lifetime("OutputTokens", "5000")),
        apiKey("rated", {
          limits: [
            { name: "rate", unit: "Requests", limit: "2", period: "Hour", algorithm: "FixedWindow", mode: "Enforce" },
          ],
        }),
        account("rich", { credit: "10" }),
        apiKey("rich", { accountRef: { name: "rich" } }),
        realtimeChannel("c0", port),
        realtimeRoute("talk", ["c0"]),
        realtimeRoute("scribe", ["c0"]),
        realtimeRoute("clock", ["c0"], {
          price: { perMinuteAudio: "0.6", inputPerMillion: "1", outputPerMillion: "2" },
        }),
      ],
    },
    (started) => {
      rig = started;
    },
  );

  it("counts text, audio, images and cached tokens in classes of their own", async () => {
    rig.upstream.script = (session, { type }) => {
      if (type === "response.create") session.finish(session.begin(), mixed);
    };
    const client = await rig.connect();
    const line = rig.nextResponseLine();
    client.send({ type: "response.create" });
    const { tokens, cost_nanos: cost, estimated, end } = await line;
    assert.deepEqual(tokens, {
      input: 30,
      output: 20,
      cache_read: 40,
      audio_input: 40,
      audio_output: 50,
      image_input: 20,
    });
    // 30 + 40 (cached at the price of input) + 20 of images x 1, 40 x 10, 20 x 2, 50 x 20 credits a million.
    assert.equal(cost, (30 + 40 + 20) * 1_000 + 40 * 10_000 + 20 * 2_000 + 50 * 20_000);
    assert.deepEqual([estimated, end], [undefined, "--"]);
    client.socket.close(1000);
    const session = await rig.logLine("the session", ({ status, end }) => status === 101 && end === "--");
    assert.equal(session["tokens"], undefined);
  });

  it("charges the sum of all responses to the account", async () => {
    rig.upstream.script = (session, { type }) => {
      if (type === "response.create") session.finish(session.begin(), usageOf(1_000, 500));
    };
    const client = await rig.connect({ key: "rich" });
    for (let count = 1; count <= 3; count += 1) {
      client.send({ type: "response.create" });
      await client.waitFor("response.done", count);
    }
    await rig.settleDown();
    const read = await rig.gateway.metric("tollgate_cost_credits_total", { route: "default/talk" });
    assert.ok(read > 0);
    const lines = (): Record<string, unknown>[] => rig.responseLines.filter(({ key }) => key === "default/rich");
    await rig.logLine("all of them", () => lines().length === 3);
    assert.deepEqual(
      lines().map(({ cost_nanos: cost }) => cost),
      [2_000_000, 2_000_000, 2_000_000],
    );
  });

  it("asks the upstream for nothing at a ceiling: the client is told, and the socket closed", async () => {
    const client = await rig.connect({ key: "two-requests" });
    client.send({ type: "response.create" });
    await client.waitFor("response.done", 1);
    client.send({ type: "response.create" });
    await client.waitFor("response.done", 2);
    client.send({ type: "response.create", event_id: "third" });
    await client.waitFor("error");
    const { code, event_id: about, message } = client.lastError;
    assert.deepEqual([code, about], ["insufficient_quota", "third"]);
    assert.match(String(message), /^insufficient quota/);
    const { code: closeCode, reason } = await client.waitClosed();
    assert.equal(closeCode, 4429);
    assert.match(reason, /insufficient quota/);
    assert.equal(rig.upstream.session.of("response.create").length, 2);
    await rig.logLine(
      "the session",
      ({ status, error: told, end }) => status === 101 && told === "insufficient_quota" && end === "RD",
    );
  });

  it("charges nothing for what was asked for behind the message that ended the session", async () => {
    const known = rig.responseLines.length;
    const client = await rawRealtime(rig.gateway.port, "few-tokens");
    const ask = (cap: number): string =>
      JSON.stringify({ type: "response.create", response: { max_output_tokens: cap } });
    client.write(Buffer.concat([6_000, 10, 10].map((cap) => frame(ask(cap)))));
    await client.readUntil("the close", (all) => closeCodeOf(all) === 4429);
    client.close();
    await rig.logLine("the session", ({ status, key }) => status === 101 && key === "default/few-tokens");
    assert.equal(rig.upstream.session.texts.length, 0);
    assert.deepEqual(rig.responseLines.slice(known), []);
  });

  it("cancels a response that the upstream begins beyond the ceiling, and charges what it took", async () => {
    let speaking: string | undefined;
    rig.upstream.script = (session, { type }) => {
      if (type === "input_audio_buffer.append") {
        speaking = session.begin();
        session.say(speaking, "I was not asked to say this, and go on saying it");
      }
    };
    const client = await rig.connect({ key: "two-requests" }).catch(() => undefined);
    assert.equal(client, undefined, "the ceiling holds for a new session as well");
    const few = await rig.connect({ key: "few-tokens" });
    // 4,096 are reserved for the first, and 4,096 do not fit beside them.
    rig.upstream.session.begin();
    await few.waitFor("response.created", 1);
    few.send({ type: "input_audio_buffer.append", audio: "AAAA" });
    await few.waitFor("error");
    assert.equal(few.lastError["code"], "insufficient_quota");
    assert.equal((await few.waitClosed()).code, 4429);
    const cancel = await rig.upstream.session.waitFor("response.cancel");
    assert.equal(cancel["response_id"], speaking);
    await rig.settleDown();
    const line = await rig.logLine(
      "the response that was cancelled",
      ({ format, status, key, tokens }) =>
        format === "Realtime" && status === 200 && key === "default/few-tokens" && memberAt(tokens, "output") !== 0,
    );
    assert.equal(line["estimated"], true);
    assert.ok(Number(memberAt(line, "tokens", "output")) >= 10);
  });

  it("a rate is told and the session goes on", async () => {
    const client = await rig.connect({ key: "rated" });
    client.send({ type: "response.create" });
    await client.waitFor("response.done");
    client.send({ type: "response.create" });
    await client.waitFor("error");
    assert.equal(client.lastError["code"], "rate_limit_exceeded");
    client.send({ type: "input_audio_buffer.clear" });
    await rig.upstream.session.waitFor("input_audio_buffer.clear");
    assert.equal(client.closed, undefined);
  });

  it("reserves the cap of the response, and not more than it", async () => {
    rig.upstream.script = () => {};
    const client = await rig.connect({ key: "capped" });
    client.send({ type: "response.create", response: { max_output_tokens: 4_700 } });
    await rig.upstream.session.waitFor("response.create");
    client.send({ type: "response.create", response: { max_output_tokens: 301 } });
    await client.waitFor("error");
    assert.equal(rig.upstream.session.of("response.create").length, 1);
  });

  it("gives back what the upstream refuses", async () => {
    rig.upstream.script = (session, event) => {
      if (event.type !== "response.create") return;
      const error = {
        type: "invalid_request_error",
        code: "conversation_already_has_active_response",
        message: "busy",
        event_id: event["event_id"],
      };
      session.send({ type: "error", event_id: "up_e", error });
    };
    const client = await rig.connect();
    client.send({ type: "response.create", event_id: "mine" });
    const { error } = await client.waitFor("error");
    assert.deepEqual(error, {
      type: "invalid_request_error",
      code: "conversation_already_has_active_response",
      message: "busy",
      param: null,
      event_id: "mine",
    });
    await rig.logLine(
      "what was refused",
      ({ error: told, format }) => format === "Realtime" && told === "upstream_bad_request",
    );
  });

  it("charges one response for two that run side by side, each by its own numbers", async () => {
    rig.upstream.script = (session, { type }) => {
      if (type === "response.create" && session.of("response.create").length === 2) {
        const [one, two] = [session.begin(), session.begin()];
        session.say(two, "two");
        session.say(one, "one");
        session.finish(two, usageOf(20, 2));
        session.finish(one, usageOf(10, 1));
      }
    };
    const known = rig.responseLines.length;
    const client = await rig.connect();
    client.send({ type: "response.create" });
    client.send({ type: "response.create", response: { conversation: "none" } });
    await client.waitFor("response.done", 2);
    await rig.logLine("both", () => rig.responseLines.length === known + 2);
    const tokens = rig.responseLines.slice(known).map(({ tokens: each }) => each);
    assert.deepEqual(tokens, [
      { input: 20, output: 2 },
      { input: 10, output: 1 },
    ]);
  });

  for (const [name, end, wanted] of [
    ["the upstream breaks off", () => rig.upstream.cut(), "SD"],
    ["the client leaves", undefined, "CD"],
  ] as const) {
    for (const said of ["text", "audio", "nothing"]) {
      it(`charges an estimate where ${name} after ${said} was said`, async () => {
        rig.upstream.script = (session: FakeSession, { type }) => {
          if (type !== "response.create") return;
          const id = session.begin();
          if (said === "text") session.say(id, "one two three four five six seven eight nine ten");
          // A second of 24 kHz and 16 bits is 20 tokens.
          if (said === "audio") session.speak(id, 48_000);
        };
        const client = await rig.connect();
        const line = rig.nextResponseLine();
        client.send({ type: "response.create", response: { instructions: "say many words ".repeat(20) } });
        await client.waitFor(said === "nothing" ? "response.created" : `response.output_${said}.delta`);
        if (end === undefined) client.socket.terminate();
        else end();
        const { tokens, estimated, end: ended } = await line;
        const { input = 0, output = 0, audio_output: audio = 0 } = tokens as Record<string, number>;
        assert.deepEqual([estimated, ended], [true, wanted]);
        assert.ok(input >= 60, `input ${input}`);
        if (said === "text") assert.ok(output >= 8 && output <= 13, `output ${output}`);
        if (said === "audio") assert.ok(audio >= 20 && audio <= 21, `audio ${audio}`);
        if (said === "nothing") assert.equal(output + audio, 0);
      });
    }
  }

  it("a response that failed before it said anything costs one request", async () => {
    rig.upstream.script = (session, { type }) => {
      if (type === "response.create") session.finish(session.begin(), null, "failed");
    };
    const client = await rig.connect();
    const line = rig.nextResponseLine();
    client.send({ type: "response.create" });
    const { tokens, cost_nanos: cost } = await line;
    assert.deepEqual([tokens, cost], [undefined, undefined]);
  });

  for (const [model, usage, tokens, cost] of [
    [
      "scribe",
      {
        type: "tokens",
        total_tokens: 30,
        input_tokens: 20,
        input_token_details: { text_tokens: 5, audio_tokens: 15 },
        output_tokens: 10,
      },
      { input: 5, output: 10, audio_input: 15 },
      5 * 1_000 + 15 * 10_000 + 10 * 2_000,
    ],
    ["clock", { type: "duration", seconds: 30 }, { input: 0, output: 0 }, 300_000_000],
  ] as const) {
    it(`charges a transcription of ${model} by its own route`, async () => {
      const client = await rig.connect();
      client.send({ type: "session.update", session: { audio: { input: { transcription: { model } } } } });
      await client.waitFor("session.updated");
      const line = rig.nextResponseLine();
      client.send({ type: "input_audio_buffer.append", audio: "A".repeat(6_400) });
      await rig.upstream.session.waitFor("input_audio_buffer.append");
      rig.upstream.session.transcribe("item_1", "hello", usage);
      const told = await line;
      assert.deepEqual([told["model"], told["tokens"], told["cost_nanos"]], [model, tokens, cost]);
      await client.waitFor("conversation.item.input_audio_transcription.completed");
    });
  }

  it("tells nothing of the channel's account", async () => {
    const client = await rig.connect();
    rig.upstream.session.send({
      type: "rate_limits.updated",
      rate_limits: [{ name: "tokens", limit: 1, remaining: 1 }],
    });
    rig.upstream.session.send({
      type: "error",
      error: {
        type: "invalid_request_error",
        code: "invalid_api_key",
        message: "Incorrect API key provided: sk-secret-of-the-channel",
      },
    });
    await client.waitFor("error");
    assert.equal(client.lastError["code"], "no_available_channel");
    rig.upstream.session.socket.close(3000, "invalid_request_error.invalid_api_key");
    const { code, reason } = await client.waitClosed();
    assert.equal(code, 1011);
    assert.ok(!`${reason}${client.texts.join()}`.includes("api_key") && !client.texts.join().includes("rate_limits"));
  });
});
