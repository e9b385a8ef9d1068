/** Which transcription model holds after the upstream has said that it took an update. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { SessionModels, type Transcriber } from "#proxy/endpoints/realtime/session/session-models";
import { wireChannel, wireRoute } from "#test/support/wire-objects";

const told = (model: unknown) => ({ audio: { input: { transcription: { model } } } });
const transcriber = (model: string): Transcriber => ({
  model,
  route: wireRoute(model, {}),
  upstreamModel: `up-${model}`,
});

describe("SessionModels", () => {
  for (const [name, named, session, want] of [
    ["the update's, where the upstream says so", transcriber("b"), told("up-b"), "b"],
    ["the update's, where the upstream says nothing of it", transcriber("b"), {}, "b"],
    ["the update's, where the upstream spells it in another way", transcriber("b"), told("up-b-2026"), "b"],
    ["the one before, where the upstream still has it", transcriber("b"), told("up-a"), "a"],
    ["the one before, where the update says nothing of it", undefined, {}, "a"],
    ["none, where the update ends it", null, {}, undefined],
    [
      "none, where the upstream says that there is none",
      undefined,
      { audio: { input: { transcription: null } } },
      undefined,
    ],
    ["none, in the words of the beta interface", undefined, { input_audio_transcription: null }, undefined],
  ] as const) {
    it(`holds ${name}`, () => {
      const channel = wireChannel("c", {});
      const { route } = transcriber("a");
      const [target] = route.targets;
      assert.ok(target);
      const models = new SessionModels({ channel, target }, undefined);
      models.updated(transcriber("a"), told("up-a"));
      assert.equal(models.transcription?.model, "a");
      models.updated(named, session);
      assert.equal(models.transcription?.model, want);
    });
  }
});
