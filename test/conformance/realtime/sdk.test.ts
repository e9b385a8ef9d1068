/** The official SDK's own realtime client, of both releases that are in use. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import OpenAI6 from "openai-6";
import { OpenAIRealtimeWS as Realtime6 } from "openai-6/realtime/ws";
import OpenAI7 from "openai-7";
import { OpenAIRealtimeWS as Realtime7 } from "openai-7/realtime/ws";
import { type RealtimeRig, startRealtimeRig } from "#test/support/realtime/realtime-rig";
import { rawKey } from "#test/support/resilience/manifests";
import { within } from "#test/support/wait-for";

describe("the official SDK's realtime client", function () {
  this.timeout(30_000);
  let rig: RealtimeRig;
  before(async () => {
    rig = await startRealtimeRig();
  });
  after(() => rig?.close());

  const options = () => ({ apiKey: rawKey("main"), baseURL: `${rig.gateway.origin}/v1` });

  for (const [name, open] of [
    ["openai 6", () => new Realtime6({ model: "talk" }, new OpenAI6(options()))],
    ["openai 7", () => new Realtime7({ model: "talk" }, new OpenAI7(options()))],
  ] as const) {
    it(`${name} holds a conversation`, async () => {
      const realtime = open();
      const seen: string[] = [];
      const done = new Promise<unknown>((resolve, reject) => {
        realtime.on("error", reject);
        realtime.on("event", (event) => {
          seen.push(event.type);
          if (event.type === "response.done") resolve(event.response.usage);
        });
      });
      realtime.socket.on("open", () => {
        realtime.send({ type: "session.update", session: { type: "realtime", instructions: "be brief" } });
        realtime.send({ type: "response.create" });
      });
      const usage = await within(5_000, "the response", done);
      assert.equal((usage as { output_tokens?: number }).output_tokens, 5);
      assert.deepEqual(seen, [
        "session.created",
        "session.updated",
        "response.created",
        "response.output_text.delta",
        "response.done",
      ]);
      realtime.close();
      await rig.settleDown();
    });

    it(`${name} tells an error event as an error`, async () => {
      const realtime = open();
      const failed = new Promise<unknown>((resolve) => realtime.on("error", resolve));
      realtime.socket.on("open", () => {
        realtime.send({ type: "session.update", session: { type: "realtime", model: "nothing" } });
      });
      const error = await within(5_000, "the error", failed);
      assert.match(String(error), /nothing/);
      realtime.close();
    });
  }
});
