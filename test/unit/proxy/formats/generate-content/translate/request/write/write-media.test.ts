import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import { generateContentUpstreamTranslator } from "#proxy/formats/generate-content/translate/upstream-translator";
import type { JsonObject } from "#proxy/json/json-value";
import type { MediaPart, Turn } from "#proxy/neutral/conversation";
import { targetOf, writeFor } from "#test/unit/proxy/formats/generate-content/translate/replay";

const png: MediaPart = {
  kind: "media",
  media: "image",
  mime: "image/png",
  source: { type: "data", base64: "iVBORw0KGgo=" },
};

function contentsFor(
  turns: readonly Turn[],
  model = "gemini-2.5-flash",
  provider: "Gemini" | "VertexAI" = "Gemini",
): unknown {
  return writeFor({ turns }, targetOf(model, provider)).body["contents"];
}

describe("writeRequest() of generateContent: files", () => {
  for (const row of [
    { name: "an image", part: png, want: { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } } },
    {
      name: "an audio, with Google's word for MP3",
      part: { kind: "media", media: "audio", mime: "audio/mpeg", source: { type: "data", base64: "AA==" } },
      want: { inlineData: { mimeType: "audio/mp3", data: "AA==" } },
    },
    {
      name: "a file of unknown type by its bytes",
      part: { kind: "media", media: "image", source: { type: "data", base64: "R0lGODlhAQ==" } },
      want: { inlineData: { mimeType: "image/gif", data: "R0lGODlhAQ==" } },
    },
    {
      name: "a text document",
      part: { kind: "media", media: "document", source: { type: "text", text: "é" } },
      want: { inlineData: { mimeType: "text/plain", data: "w6k=" } },
    },
    {
      name: "a file that Google holds",
      part: {
        kind: "media",
        media: "video",
        mime: "video/mp4",
        source: { type: "file", owner: "google", id: "files/a" },
      },
      want: { fileData: { mimeType: "video/mp4", fileUri: "files/a" } },
    },
  ] satisfies { name: string; part: MediaPart; want: JsonObject }[]) {
    it(`writes ${row.name}`, () => {
      assert.deepEqual(contentsFor([{ role: "user", parts: [row.part] }]), [{ role: "user", parts: [row.want] }]);
    });
  }

  it("pitfall 113: wants every address fetched, and refuses one that was not", () => {
    const part: MediaPart = {
      kind: "media",
      media: "image",
      source: { type: "url", url: "https://x.test/a.png" },
      where: "messages[0].content[1]",
    };
    assert.equal(generateContentUpstreamTranslator.needsDownload?.(part, targetOf("gemini-3-pro")), true);
    assert.equal(generateContentUpstreamTranslator.needsDownload?.(png, targetOf("gemini-3-pro")), false);
    assert.throws(
      () => contentsFor([{ role: "user", parts: [part] }]),
      (error) => error instanceof GatewayError && error.param === "messages[0].content[1]",
    );
  });

  it("refuses a file that only another provider can read", () => {
    const part: MediaPart = {
      kind: "media",
      media: "image",
      source: { type: "file", owner: "openai", id: "file-1" },
      where: "x",
    };
    assert.throws(() => contentsFor([{ role: "user", parts: [part] }]), GatewayError);
  });

  it("asks for one resolution when all images agree", () => {
    const low = { ...png, detail: "low" };
    const config = (...parts: MediaPart[]) => writeFor({ turns: [{ role: "user", parts }] });
    assert.deepEqual(config(low, low).body["generationConfig"], { mediaResolution: "MEDIA_RESOLUTION_LOW" });
    const high = { ...png, detail: "high" };
    assert.deepEqual(config(high).body["generationConfig"], { mediaResolution: "MEDIA_RESOLUTION_HIGH" });
    const mixed = config({ ...low, where: "a" }, { ...png, detail: "high", where: "b" });
    assert.equal(mixed.body["generationConfig"], undefined);
    assert.deepEqual(mixed.dropped, ["a.mediaDetail", "b.mediaDetail"]);
    assert.deepEqual(config({ ...png, detail: "auto" }).dropped, []);
  });
});
