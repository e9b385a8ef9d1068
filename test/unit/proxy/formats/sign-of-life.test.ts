/** pitfall 156: what a silent stream says in each format, before its reply, within it and behind its end. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { generateContentClient } from "#proxy/formats/generate-content/native/client-format";
import { generateContentUpstream as generateContent } from "#proxy/formats/generate-content/native/upstream-format";
import { clientFormats } from "#proxy/formats/registry";
import { StreamOpening } from "#proxy/formats/stream/stream-opening";
import { dataEvents } from "#test/support/calls/run-filter";
import { callOf } from "#test/support/digest/stream-call";

const openingOf = (): StreamOpening => new StreamOpening(12, 1, (prefix) => `${prefix}1`, true);
const frameOf = (text: string, finishReason?: string): string =>
  dataEvents({
    candidates: [{ content: { parts: [{ text }] }, finishReason }],
    usageMetadata: { promptTokenCount: 3 },
  });

describe("signs of life", () => {
  it("pitfall 156: are a comment, a ping, a frame without candidates, and an opened response", () => {
    const said = Object.values(clientFormats).map((format) =>
      format.signOfLife({ ...callOf(format, { stream: true }), model: "m" }, openingOf()).toString("utf8"),
    );
    assert.deepEqual(
      said.map((text) => text.split("\n")[0]?.slice(0, 60)),
      [
        ": keep-alive",
        "event: response.created",
        "event: ping",
        'data: {"modelVersion":"m","responseId":"1","usageMetadata":{"promptTokenCount":12,"totalTokenCount":12}}'.slice(
          0,
          60,
        ),
      ],
    );
    for (const text of said) assert.match(text, /\n\n$/);
  });

  it("pitfall 156: of Google's say no usage behind that of the reply", () => {
    const call = callOf(generateContent, { stream: true });
    const filter = generateContent.createStreamFilter(call, 1_000_000);
    const sign = (): string => generateContentClient.signOfLife(call, openingOf(), filter).toString("utf8");
    filter.push(Buffer.from(frameOf("a")));
    assert.match(sign(), /promptTokenCount":12/);
    filter.push(Buffer.from(frameOf("b")));
    assert.match(sign(), /promptTokenCount":12/);
    filter.push(Buffer.from(frameOf("c", "STOP")));
    assert.equal(sign(), "");
    filter.end();
    assert.equal(filter.isComplete, true);
    assert.equal(filter.produced().text, "abc");
  });
});
