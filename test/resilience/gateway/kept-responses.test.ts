/** Conversations that the gateway keeps outlive the program, however it ends. */
import assert from "node:assert/strict";
import { httpCall } from "#test/support/conformance/http-call";
import {
  channelManifest,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { naturalReply } from "#test/support/conformance/natural-replies";
import { at, list } from "#test/support/digest/facts";
import { FakeUpstream } from "#test/support/fake-upstream";
import { type Gateway, startGateway } from "#test/support/start-gateway";

describe("kept responses", () => {
  let upstream: FakeUpstream;
  before(async () => {
    upstream = await FakeUpstream.start();
    upstream.replyWith(naturalReply);
  });
  after(() => upstream.close());

  async function start(dataFolder?: string): Promise<Gateway> {
    const gateway = await startGateway({
      manifests: {
        "all.yaml": manifestOf(
          channelSecretManifest(),
          keyManifest("main"),
          channelManifest("translated", upstream.origin, { formats: [{ type: "ChatCompletions" }] }),
          routeManifest("translated"),
        ),
      },
      ...(dataFolder === undefined ? {} : { dataFolder }),
    });
    await gateway.waitUntilServed("default/main", "translated");
    return gateway;
  }

  async function create(gateway: Gateway, body: object): Promise<{ status: number; id: string }> {
    const answer = await httpCall({
      origin: gateway.origin,
      path: "/v1/responses",
      headers: { authorization: `Bearer ${clientKey("main")}` },
      body: JSON.stringify({ model: "translated", input: "one", ...body }),
    });
    return { status: answer.status, id: String(at(answer.json(), "id")) };
  }

  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    it(`are gone on from after ${signal}`, async () => {
      const first = await start();
      const kept = await create(first, {});
      // Answered by the store behind the first one's write, which is then on disk.
      const second = await create(first, { input: "two", previous_response_id: kept.id });
      assert.deepEqual([kept.status, second.status], [200, 200]);
      await first.stop(signal);
      const gateway = await start(first.dataFolder);
      const third = await create(gateway, { input: "three", previous_response_id: kept.id });
      assert.equal(third.status, 200);
      assert.deepEqual(
        list(at(upstream.requests.at(-1)?.json(), "messages")).map((message) => at(message, "content")),
        ["one", "hi", "three"],
      );
      await gateway.close();
      await first.close();
    });
  }
});
