import assert from "node:assert/strict";
import { needsDownload } from "#proxy/formats/messages/translate/request/write/write-media";
import type { MediaPart } from "#proxy/neutral/conversation";
import type { Channel } from "#proxy/snapshot/types.gen";
import { conversation, refusalOf, user, writeBody } from "#test/support/translation/messages-exchange";

const png = "iVBORw0KGgo=";

function blockOf(part: Omit<MediaPart, "kind">): unknown {
  const turns = [user({ kind: "media", where: "messages[0].content[0]", ...part })];
  const [message] = Object(writeBody(conversation({ turns })).body["messages"]);
  return message.content[0];
}

describe("messages: writeRequest, media", () => {
  for (const row of [
    {
      name: "an image by its bytes",
      part: { media: "image", mime: "image/png", source: { type: "data", base64: png } },
      want: { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
    },
    {
      name: "an image by its address",
      part: { media: "image", source: { type: "url", url: "https://example.com/a" } },
      want: { type: "image", source: { type: "url", url: "https://example.com/a" } },
    },
    {
      name: "an image that the vendor keeps",
      part: { media: "image", source: { type: "file", owner: "anthropic", id: "f" } },
      want: { type: "image", source: { type: "file", file_id: "f" } },
    },
    {
      name: "a PDF with its name",
      part: {
        media: "document",
        mime: "application/pdf",
        filename: "a.pdf",
        source: { type: "data", base64: "JVBERi0=" },
      },
      want: {
        type: "document",
        source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
        title: "a.pdf",
      },
    },
    {
      name: "a PDF by its address",
      part: { media: "document", source: { type: "url", url: "https://example.com/a.pdf" } },
      want: { type: "document", source: { type: "url", url: "https://example.com/a.pdf" } },
    },
    {
      name: "a text document with title, context and citations",
      part: {
        media: "document",
        mime: "text/plain",
        source: { type: "text", text: "x" },
        title: "T",
        context: "C",
        wantsCitations: true,
      },
      want: {
        type: "document",
        source: { type: "text", media_type: "text/plain", data: "x" },
        title: "T",
        context: "C",
        citations: { enabled: true },
      },
    },
    {
      name: "a text file by its bytes as text",
      part: { media: "document", mime: "text/csv", source: { type: "data", base64: "YSxi" } },
      want: { type: "document", source: { type: "text", media_type: "text/plain", data: "a,b" } },
    },
    {
      name: "a picture that came as a file",
      part: { media: "document", mime: "image/png", source: { type: "data", base64: png } },
      want: { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
    },
  ] satisfies { name: string; part: Omit<MediaPart, "kind">; want: object }[]) {
    it(`writes ${row.name}`, () => assert.deepEqual(blockOf(row.part), row.want));
  }

  for (const row of [
    {
      name: "an image of another kind",
      part: { media: "image", mime: "image/bmp", source: { type: "data", base64: "Qk0=" } },
    },
    { name: "an image of unknown kind", part: { media: "image", source: { type: "data", base64: "AAAA" } } },
    {
      name: "a spreadsheet",
      part: { media: "document", mime: "application/vnd.ms-excel", source: { type: "data", base64: "AAAA" } },
    },
    { name: "sound", part: { media: "audio", mime: "audio/wav", source: { type: "data", base64: "AAAA" } } },
    { name: "a film", part: { media: "video", source: { type: "url", url: "https://example.com/a.mp4" } } },
    { name: "a file of another vendor", part: { media: "image", source: { type: "file", owner: "openai", id: "f" } } },
    {
      name: "a document of another vendor",
      part: { media: "document", source: { type: "file", owner: "google", id: "f" } },
    },
  ] satisfies { name: string; part: Omit<MediaPart, "kind"> }[]) {
    it(`refuses ${row.name}, which would vanish`, () =>
      assert.equal(
        refusalOf(() => blockOf(row.part)),
        "unsupported_parameter messages[0].content[0]",
      ));
  }
});

describe("messages: needsDownload", () => {
  const image = (url: string): MediaPart => ({ kind: "media", media: "image", source: { type: "url", url } });
  const document = (mime?: string): MediaPart => ({
    kind: "media",
    media: "document",
    mime,
    source: { type: "url", url: "https://example.com/a" },
  });
  const rows: { name: string; part: MediaPart; provider?: Channel["provider"]; want: boolean }[] = [
    { name: "leaves an image to the vendor", part: image("https://example.com/a.png"), want: false },
    {
      name: "fetches for compatible servers",
      part: image("https://example.com/a.png"),
      provider: "AnthropicCompatible",
      want: true,
    },
    { name: "leaves a PDF to the vendor", part: document("application/pdf"), want: false },
    { name: "leaves a document of unknown kind to it", part: document(), want: false },
    { name: "fetches a document of another kind", part: document("text/csv"), want: true },
    {
      name: "fetches nothing that has its content",
      part: { kind: "media", media: "image", source: { type: "data", base64: png } },
      provider: "AnthropicCompatible",
      want: false,
    },
    {
      name: "fetches nothing that is refused anyway",
      part: { kind: "media", media: "video", source: { type: "url", url: "http://example.com/a.mp4" } },
      want: false,
    },
  ];
  for (const { name, part, provider = "Anthropic", want } of rows) {
    it(name, () => {
      const privacy = {
        store: "PassThrough",
        safetyIdentifier: "Strip",
        streamObfuscation: "Strip",
        clientMetadata: "Forward",
      } as const;
      assert.equal(needsDownload(part, { channel: { provider, baseURL: "https://api.example", privacy } }), want);
    });
  }
});
