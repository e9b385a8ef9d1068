/** OpenAI's official SDK, two generations, as a client of the real program: completions, whole and streamed. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import type OpenAI from "openai-7";
import {
  channelManifest,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { naturalReply } from "#test/support/conformance/natural-replies";
import { completionStream, replyAsAsked, streamScript } from "#test/support/conformance/text-completions";
import { FakeUpstream, type ReceivedRequest, type ScriptedReply } from "#test/support/fake-upstream";
import { openaiGenerations } from "#test/support/official-clients";
import { type Gateway, startGateway } from "#test/support/start-gateway";
import { waitFor } from "#test/support/wait-for";

function replyByPath(request: ReceivedRequest): ScriptedReply {
  return request.target === "/v1/completions" ? replyAsAsked(request) : naturalReply(request);
}

describe("official SDKs: completions", function () {
  this.timeout(20_000);
  let upstream: FakeUpstream;
  let gateway: Gateway;

  before(async function () {
    this.timeout(30_000);
    upstream = await FakeUpstream.start(replyByPath);
    const capabilities = ["Completion"];
    const manifests = manifestOf(
      keyManifest("main"),
      keyManifest("chatter", { capabilities: ["Chat"] }),
      channelSecretManifest(),
      channelManifest("text", upstream.origin, { formats: [{ type: "Completions" }] }),
      channelManifest("chat", upstream.origin, { formats: [{ type: "ChatCompletions" }] }),
      routeManifest("text", { capabilities }),
      routeManifest("chat", { capabilities: ["Chat", ...capabilities] }),
    );
    gateway = await startGateway({ manifests: { "all.yaml": manifests } });
    await gateway.waitUntilServed("default/main", "chat");
  });
  afterEach(() => upstream.replyWith(replyByPath));
  after(async function () {
    this.timeout(20_000);
    await gateway?.close();
    await upstream?.close();
  });

  for (const { name, load } of openaiGenerations) {
    const create = (key = "main", base = "/v1"): OpenAI =>
      new (load())({ baseURL: `${gateway.origin}${base}`, apiKey: clientKey(key), maxRetries: 0 });
    const prompt = "Once";

    for (const { model, text, usage } of [
      { model: "text", text: " upon a time", usage: [5, 3, 8] },
      { model: "chat", text: "hi", usage: [2, 1, 3] },
    ]) {
      it(`${name} completes a prompt by a channel of ${model}`, async () => {
        for (const base of ["/v1", ""]) {
          const completion = await create("main", base).completions.create({ model, prompt });
          assert.equal(completion.object, "text_completion");
          const [choice] = completion.choices;
          assert.deepEqual([choice?.text, choice?.finish_reason, choice?.index], [text, "stop", 0]);
          const { prompt_tokens, completion_tokens, total_tokens } = completion.usage ?? assert.fail("no usage");
          assert.deepEqual([prompt_tokens, completion_tokens, total_tokens], usage);
        }
      });

      it(`${name} streams from a channel of ${model}, with usage when it asks and none when it does not`, async () => {
        for (const include_usage of [true, false]) {
          const options = { model, prompt, stream: true, stream_options: { include_usage } } as const;
          let got = "";
          let told: unknown;
          let finish: unknown;
          for await (const chunk of await create().completions.create(options)) {
            assert.equal(chunk.object, "text_completion");
            got += chunk.choices[0]?.text ?? "";
            finish = chunk.choices[0]?.finish_reason ?? finish;
            told = chunk.usage?.total_tokens ?? told;
          }
          assert.deepEqual([got, finish, told], [text, "stop", include_usage ? usage[2] : undefined]);
        }
      });
    }

    it(`${name} throws at a stream that is cut, and never takes it for a whole one`, async () => {
      for (const cutAt of [completionStream.indexOf("\n\n") + 20, completionStream.indexOf("data: [DONE]")]) {
        upstream.replyWith(streamScript(completionStream, { cutAt }));
        const stream = await create().completions.create({ model: "text", prompt, stream: true });
        await assert.rejects(async () => {
          for await (const _ of stream);
        }, /upstream|ended|broke|provider/i);
      }
    });

    it(`${name} reads refusals: of a key, of a parameter, of a prompt that a chat cannot say`, async () => {
      const denied = create("chatter").completions.create({ model: "text", prompt });
      await assert.rejects(denied, { status: 403 });
      await assert.rejects(create().completions.create({ model: "text", prompt, n: 0 }), { status: 400, param: "n" });
      const several = create().completions.create({ model: "chat", prompt: ["a", "b"] });
      await assert.rejects(several, { status: 400, code: "unsupported_parameter", param: "prompt" });
    });

    it(`${name} closes the upstream when it leaves a stream`, async () => {
      const cutAt = completionStream.indexOf("\n\n") + 2;
      upstream.forget();
      upstream.replyWith(streamScript(completionStream, { stallAt: cutAt }));
      const stream = await create().completions.create({ model: "text", prompt, stream: true });
      for await (const _ of stream) break;
      await waitFor("the upstream to be left", () => upstream.requests[0]?.abortedAtMs);
    });
  }
});
