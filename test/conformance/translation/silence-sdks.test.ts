/**
 * pitfall 156: the official SDKs take signs of life before an answer and within it, and raise what fails behind them.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { callFormOf } from "#test/support/conformance/chat-calls";
import { anthropicDrivers } from "#test/support/conformance/sdk-drivers/anthropic";
import type { SdkDriver } from "#test/support/conformance/sdk-drivers/driver";
import { genaiDrivers } from "#test/support/conformance/sdk-drivers/genai";
import { openaiChatDrivers } from "#test/support/conformance/sdk-drivers/openai-chat";
import { openaiResponsesDrivers } from "#test/support/conformance/sdk-drivers/openai-responses";
import { protocols, routeTo, useTranslationRig } from "#test/support/conformance/translation-rig";
import { formatNamed } from "#test/support/resilience/formats";

const events = { "content-type": "text/event-stream" };
/** Several times as long as a client may be told nothing. */
const silentMs = 70;

describe("official SDKs behind signs of life", () => {
  const rig = useTranslationRig({}, { clientSilenceMs: 20 });
  const origin = (): string => rig().gateway.origin;
  const drivers: readonly SdkDriver[] = [
    ...openaiChatDrivers(origin),
    ...openaiResponsesDrivers(origin),
    ...anthropicDrivers(origin),
    ...genaiDrivers(origin),
  ];

  for (const driver of drivers)
    for (const from of protocols) {
      const body = Buffer.from(formatNamed(callFormOf(from).format).events().join(""));

      it(`pitfall 156: ${driver.name} reads an answer of ${from} that is silent before it and within it`, async () => {
        const fragmentAt = [0.1, 0.4, 0.9].map((part) => Math.floor(part * body.length));
        const slow = { headers: events, body, delayHeadMs: silentMs, fragmentAt, delayPieceMs: silentMs };
        rig().upstream.replyWith(slow);
        assert.match(await driver.text(routeTo(from), "hi", true), /demo upstream, .* You said: hi$/);
      });

      it(`pitfall 156: ${driver.name} raises what fails in ${from} after silence`, async () => {
        rig().upstream.replyWith({ status: 503, body: '{"error":{"message":"busy"}}', delayHeadMs: silentMs });
        await assert.rejects(driver.text(routeTo(from), "hi", true));
        rig().upstream.replyWith({
          headers: events,
          body,
          delayHeadMs: silentMs,
          fragmentAt: [Math.floor(body.length / 2)],
          delayPieceMs: silentMs,
          cutAt: Math.floor(body.length * 0.7),
        });
        await assert.rejects(driver.text(routeTo(from), "hi", true));
      });
    }
});
