import assert from "node:assert/strict";
import { upstreamFormats } from "#proxy/formats/registry";
import { scanJsonObject } from "#proxy/json/strict-json";
import { withoutSealedState } from "#proxy/translate/translation";

describe("withoutSealedState()", () => {
  it("takes whatever could be read, also of a kept conversation with many times the keys of a body", () => {
    const format = upstreamFormats.Responses;
    const input = [
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "tg1.AAAA.BBBB" },
      ...Array.from({ length: 60_000 }, () => ({ role: "user", content: "Hi" })),
    ];
    const bytes = Buffer.from(JSON.stringify({ model: "m", input }));
    const scanned = scanJsonObject(bytes, { depthMax: 64, keysMax: 1_000_000, watch: format.watchedKeys });
    const call = format.readCall(scanned, {
      protocol: "OpenAI",
      capability: "Chat",
      format: "Responses",
    });
    const cleaned = withoutSealedState(call);
    assert.equal(cleaned.body.bytes.includes("tg1."), false);
    assert.equal(JSON.parse(cleaned.body.bytes.toString()).input.length, 60_000);
  });
});
