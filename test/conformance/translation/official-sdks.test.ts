/**
 * The official SDKs of the three vendors, two generations each, drive every cell: each of the four client formats on
 * each of the four upstream formats. Text, streams, tools over two turns, structured output, images, thinking whose
 * state comes back with the second turn, and errors before and after the first byte.
 */
import assert from "node:assert/strict";
import type { Server } from "node:http";
import { after, before, describe, it } from "mocha";
import { createDemoUpstream } from "#examples/demo-upstream/server";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecret,
  channelSecretManifest,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { anthropicDrivers } from "#test/support/conformance/sdk-drivers/anthropic";
import type { SdkDriver } from "#test/support/conformance/sdk-drivers/driver";
import { genaiDrivers } from "#test/support/conformance/sdk-drivers/genai";
import { openaiChatDrivers } from "#test/support/conformance/sdk-drivers/openai-chat";
import { openaiResponsesDrivers } from "#test/support/conformance/sdk-drivers/openai-responses";
import { city } from "#test/support/conformance/sdk-gateway";

const upstreams = [
  { format: "ChatCompletions", provider: "OpenAICompatible", model: "some-model", keepsState: false },
  { format: "Responses", provider: "OpenAI", model: "gpt-5.4", keepsState: true },
  { format: "Messages", provider: "Anthropic", model: "claude-sonnet-4-5", keepsState: true },
  { format: "GenerateContent", provider: "Gemini", model: "gemini-3-pro", keepsState: true },
] as const;
const faults = ["429", "500", "cut", "error-event"] as const;

function manifests(origin: string): string {
  return manifestOf(
    channelSecretManifest(),
    keyManifest("main"),
    ...upstreams.flatMap(({ format, provider, model }) => {
      const channel = format.toLowerCase();
      const routeTo = (upstreamModel: string) => ({
        failover: { maxAttempts: 1 },
        targets: [{ name: "main", channelRef: { name: channel }, upstreamModel }],
      });
      return [
        channelManifest(channel, origin, { provider, formats: [{ type: format }] }),
        routeManifest(channel, routeTo(model)),
        ...faults.map((fault) => routeManifest(`${channel}-${fault}`, routeTo(`demo-fault-${fault}`))),
      ];
    }),
  );
}

describe("official SDKs on every upstream format", function () {
  this.timeout(20_000);
  let demo: Server;
  let gateway: InProcessGateway;
  before(async () => {
    demo = createDemoUpstream({ paceMs: 0, credential: channelSecret });
    await new Promise<void>((resolve) => demo.listen(0, "127.0.0.1", resolve));
    const address = demo.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    gateway = await InProcessGateway.start({ manifests: manifests(`http://127.0.0.1:${port}`) });
  });
  after(async () => {
    await gateway.close();
    demo.close();
    demo.closeAllConnections();
  });

  const origin = (): string => gateway.origin;
  const drivers: readonly SdkDriver[] = [
    ...openaiChatDrivers(origin),
    ...openaiResponsesDrivers(origin),
    ...anthropicDrivers(origin),
    ...genaiDrivers(origin),
  ];

  for (const driver of drivers) {
    for (const { format, keepsState } of upstreams) {
      const model = format.toLowerCase();
      describe(`${driver.name} on ${format}`, () => {
        it("gets text", async () => assert.match(await driver.text(model, "good morning", false), /good morning/));
        it("streams the same text", async () => {
          const text = await driver.text(model, "good morning", true);
          assert.equal(text, await driver.text(model, "good morning", false));
        });
        it("parses structured output", async () => assert.deepEqual(await driver.structured(model), city));
        it("sends an image", async () => assert.match(await driver.describeImage(model), /I see an image/));
        for (const stream of [false, true]) {
          const manner = stream ? ", streamed" : "";
          it(`uses a tool over two turns${manner}`, async () => {
            const { args, text } = await driver.useTool(model, { stream, thinks: false });
            assert.deepEqual(args, city);
            assert.match(text, /The tool answered: .*sunny/);
          });
          it(`thinks over two turns with a tool${manner}`, async () => {
            const { args, thought, text } = await driver.useTool(model, { stream, thinks: true });
            assert.deepEqual(args, city);
            assert.equal(thought, "The demo thinks.");
            assert.match(text, /The tool answered: .*sunny/);
            if (keepsState) assert.match(text, /^I remember what I thought/);
          });
        }
        for (const fault of faults) {
          it(`raises an error for ${fault}`, async () => {
            await assert.rejects(driver.text(`${model}-${fault}`, "good morning", true));
            if (fault === "429" || fault === "500") {
              await assert.rejects(driver.text(`${model}-${fault}`, "good morning", false), (error: unknown) => {
                assert.equal(Reflect.get(Object(error), "status"), fault === "429" ? 429 : 502);
                return true;
              });
            }
          });
        }
      });
    }
  }
});
