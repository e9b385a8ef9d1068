/** Which models a realtime session may name, and where (docs/design/realtime.md 2). */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type RealtimeRig, realtimeChannel, realtimeRoute, useRealtimeRig } from "#test/support/realtime/realtime-rig";
import { apiKey, secret } from "#test/support/resilience/manifests";

const transcribing = (model: unknown) => ({
  type: "session.update",
  session: { type: "transcription", audio: { input: { transcription: { model } } } },
});

describe("models of a realtime session", function () {
  this.timeout(30_000);
  let rig: RealtimeRig;
  useRealtimeRig(
    {
      upstreams: 2,
      objects: ([first = 0, second = 0]) => [
        secret(),
        apiKey("main", { models: { deny: ["forbidden"] } }),
        realtimeChannel("c0", first),
        realtimeChannel("c1", second),
        realtimeRoute("talk", ["c0"]),
        realtimeRoute("other", ["c0"]),
        realtimeRoute("scribe", ["c0"]),
        realtimeRoute("forbidden", ["c0"]),
        realtimeRoute("far", ["c1"]),
      ],
    },
    (started) => {
      rig = started;
    },
  );

  for (const [name, message, code, param] of [
    ["another model", { type: "session.update", session: { model: "other" } }, "invalid_value", "session.model"],
    [
      "a forbidden one",
      { type: "session.update", session: { model: "forbidden" } },
      "model_not_allowed",
      "session.model",
    ],
    ["an unknown one", { type: "session.update", session: { model: "nothing" } }, "model_not_found", "session.model"],
    [
      "the upstream's name",
      { type: "session.update", session: { model: "up-talk" } },
      "model_not_found",
      "session.model",
    ],
    ["a number", { type: "session.update", session: { model: 1 } }, "invalid_type", "session.model"],
    ["a forbidden one at the top", { type: "session.update", model: "forbidden" }, "model_not_allowed", "model"],
    [
      "a forbidden one for a response",
      { type: "response.create", response: { model: "forbidden" } },
      "model_not_allowed",
      "response.model",
    ],
    [
      "a forbidden one to transcribe",
      transcribing("forbidden"),
      "model_not_allowed",
      "session.audio.input.transcription.model",
    ],
    [
      "a forbidden one to transcribe, in the beta's form",
      { type: "session.update", session: { input_audio_transcription: { model: "forbidden" } } },
      "model_not_allowed",
      "session.input_audio_transcription.model",
    ],
    [
      "one that another channel serves",
      transcribing("far"),
      "invalid_value",
      "session.audio.input.transcription.model",
    ],
  ] as const) {
    it(`answers ${name} with an error event, and passes nothing on`, async () => {
      const client = await rig.connect();
      client.send({ ...message, event_id: "mine" });
      await client.waitFor("error");
      assert.deepEqual(
        {
          code: client.lastError["code"],
          param: client.lastError["param"],
          id: client.lastError["event_id"],
        },
        { code, param, id: "mine" },
      );
      client.send({ type: "input_audio_buffer.clear" });
      await rig.upstream.session.waitFor("input_audio_buffer.clear");
      assert.deepEqual(
        rig.upstream.session.received.map(({ type }) => type),
        ["input_audio_buffer.clear"],
      );
    });
  }

  for (const transcription of [{}, { language: "de" }, { model: null }]) {
    it(`refuses a transcription of ${JSON.stringify(transcription)}: the upstream would choose the model`, async () => {
      const client = await rig.connect();
      for (const input of [{ audio: { input: { transcription } } }, { input_audio_transcription: transcription }]) {
        client.send({ type: "session.update", session: input });
      }
      await client.waitFor("error", 2);
      assert.deepEqual(
        client.errors.map(({ code, param }) => [code, param]),
        ["audio.input.transcription.model", "input_audio_transcription.model"].map((place) => [
          "missing_required_parameter",
          `session.${place}`,
        ]),
      );
      assert.equal(rig.upstream.session.texts.length, 0);
      client.send(transcribing("scribe"));
      client.send({ type: "session.update", session: { audio: { input: { transcription: { language: "de" } } } } });
      await client.waitFor("session.updated", 2);
    });
  }

  for (const text of [
    '{"type":"input_audio_buffer.append","audio":"AA==","type":"session.update","session":{"model":"forbidden"}}',
    '{"type":"session.update","session":{"model":"talk","model":"forbidden"}}',
    '{"type":"session.update","session":{"type":"realtime"},"sess\\u0069on":{"model":"forbidden"}}',
    '{"type":"session.update","Session":{"model":"forbidden"}}',
    '{"type":"input_audio_buffer.append","audio":"AA==","Type":"response.create"}',
    '{"type":"session.update","\u017fession":{"model":"forbidden"}}',
    '{"type":"session.update","session":{"Model":"forbidden"}}',
    '{"type":"session.update","session":{"Audio":{"input":{"transcription":{"model":"forbidden"}}}}}',
    '{"type":"session.update","session":{"audio":{"INPUT":{"transcription":{"model":"forbidden"}}}}}',
    '{"type":"session.update","session":{"audio":{"input":{"Transcription":{"model":"forbidden"}}}}}',
    '{"type":"session.update","session":{"audio":{"input":{"transcription":{"model":"scribe","MODEL":"forbidden"}}}}}',
    '{"type":"session.update","session":{"input_Audio_transcription":{"model":"forbidden"}}}',
    '{"type":"session.update","session":{"Max_output_tokens":"inf"}}',
    '{"type":"response.create","response":{"Model":"forbidden"}}',
    '{"type":"response.create","response":{"Prompt":{"id":"pmpt_1"}}}',
    '{"type":"response.create","response":{"Max_Response_Output_Tokens":"inf"}}',
    "[]",
    "null",
    "no json",
    "",
    '{"type":"session.update"',
  ]) {
    it(`refuses ${text === "" ? "an empty message" : text}: two programs could read it in two ways, or none`, async () => {
      const client = await rig.connect();
      client.socket.send(text);
      await client.waitFor("error");
      assert.equal(client.lastError["code"], "invalid_json");
      client.send({ type: "input_audio_buffer.clear" });
      await rig.upstream.session.waitFor("input_audio_buffer.clear");
      assert.equal(rig.upstream.session.texts.length, 1);
    });
  }

  it("names the session's own model as the upstream does, and every other byte passes", async () => {
    const client = await rig.connect();
    client.socket.send(
      '{ "type":"session.update", "event_id":"mine", "session":{"model" : "talk","x":1e2,"\\u0061":[1.0]}}',
    );
    await rig.upstream.session.waitFor("session.update");
    assert.equal(
      rig.upstream.session.texts[0],
      '{ "type":"session.update", "event_id":"mine", "session":{"model" : "up-talk","x":1e2,"\\u0061":[1.0]}}',
    );
  });

  it("names a transcription model as the upstream does, and the client sees its own name", async () => {
    const client = await rig.connect();
    client.send(transcribing("scribe"));
    const sent = await rig.upstream.session.waitFor("session.update");
    assert.deepEqual(sent["session"], transcribing("up-scribe").session);
    const updated = await client.waitFor("session.updated");
    assert.deepEqual(updated["session"], transcribing("scribe").session);
  });

  it("calls the session's model by the client's name, whatever the upstream calls it", async () => {
    const client = await rig.connect();
    rig.upstream.session.send({ type: "session.updated", session: { type: "realtime", model: "up-talk-2025-08-28" } });
    const { session } = await client.waitFor("session.updated");
    assert.deepEqual(session, { type: "realtime", model: "talk" });
  });

  for (const owner of ["session", "response"] as const) {
    it(`refuses two caps of a ${owner}: an upstream may read either`, async () => {
      const client = await rig.connect();
      const caps = { max_output_tokens: 1, max_response_output_tokens: "inf" };
      client.send({ type: owner === "session" ? "session.update" : "response.create", [owner]: caps });
      await client.waitFor("error");
      const { code, param } = client.lastError;
      assert.deepEqual([code, param], ["invalid_value", `${owner}.max_response_output_tokens`]);
      assert.equal(rig.upstream.session.received.length, 0);
    });
  }

  it("an object that the upstream's account keeps is refused", async () => {
    const client = await rig.connect();
    client.send({ type: "response.create", response: { prompt: { id: "pmpt_1" } } });
    await client.waitFor("error");
    assert.equal(client.lastError["code"], "unsupported_parameter");
    assert.equal(rig.upstream.session.received.length, 0);
  });

  describe("a session that only transcribes", () => {
    const target = "/v1/realtime?intent=transcription";

    it("asks no upstream before its model is named, and then goes to that one", async () => {
      const before = rig.upstream.handshakes;
      const client = await rig.connect({ target });
      await client.waitFor("session.created");
      client.send({ type: "input_audio_buffer.append", audio: "AAAA" });
      await client.waitFor("error");
      assert.equal(client.lastError["code"], "missing_required_parameter");
      assert.equal(rig.upstream.handshakes, before);
      client.send(transcribing("scribe"));
      client.send({ type: "input_audio_buffer.append", audio: "AAAA" });
      await client.waitFor("session.updated");
      assert.equal(rig.upstream.session.url.search, "?intent=transcription");
      await rig.upstream.session.waitFor("input_audio_buffer.append");
      assert.deepEqual(
        rig.upstream.session.received.map(({ type }) => type),
        ["session.update", "input_audio_buffer.append"],
      );
      assert.equal(client.of("session.created").length, 1);
    });

    it("may name another model after one that it may not use", async () => {
      const client = await rig.connect({ target });
      client.send(transcribing("forbidden"));
      client.send(transcribing("nothing"));
      client.send(transcribing("scribe"));
      await client.waitFor("session.updated");
      const codes = client.errors.map(({ code }) => code);
      assert.deepEqual(codes, ["model_not_allowed", "model_not_found"]);
    });

    it("is told of an upstream that does not accept it, and may try again", async () => {
      rig.upstream.refusal = { status: 500 };
      const client = await rig.connect({ target });
      client.send(transcribing("scribe"));
      await client.waitFor("error");
      assert.equal(client.lastError["code"], "upstream_error");
      rig.upstream.refusal = undefined;
      client.send(transcribing("scribe"));
      await client.waitFor("session.updated");
    });

    it("makes no responses", async () => {
      const client = await rig.connect({ target });
      client.send(transcribing("scribe"));
      await client.waitFor("session.updated");
      client.send({ type: "response.create" });
      await client.waitFor("error");
      assert.equal(rig.upstream.session.of("response.create").length, 0);
    });
  });
});
