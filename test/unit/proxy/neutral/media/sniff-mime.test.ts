import assert from "node:assert/strict";
import { sniffMime, sniffMimeOfBytes } from "#proxy/neutral/media/sniff-mime";

describe("sniffMime()", () => {
  for (const { mime, base64 } of [
    { mime: "image/jpeg", base64: "/9j/4AAQSkZJRg==" },
    { mime: "image/png", base64: "iVBORw0KGgo=" },
    { mime: "image/gif", base64: "R0lGODlhAQABAIAAAA==" },
    { mime: "image/webp", base64: "UklGRiQAAABXRUJQVlA4" },
    { mime: "audio/wav", base64: "UklGRiQAAABXQVZFZm10" },
    { mime: "image/bmp", base64: "Qk0eAAAAAAAAAA==" },
    { mime: "application/pdf", base64: "JVBERi0xLjcK" },
    { mime: "audio/ogg", base64: "T2dnUwACAAAAAAAA" },
    { mime: "audio/flac", base64: "ZkxhQwAAACI=" },
    { mime: "audio/mpeg", base64: "SUQzBAAAAAAA" },
    { mime: "audio/mpeg", base64: "//qQZAAA" },
    { mime: "audio/mpeg", base64: "/+MYxAAA" },
    { mime: "audio/aac", base64: "//lQgAAA" },
    { mime: "audio/mp4", base64: "AAAAHGZ0eXBNNEEg" },
    { mime: "video/mp4", base64: "AAAAGGZ0eXBtcDQy" },
    { mime: undefined, base64: "aGVsbG8=" },
    { mime: undefined, base64: "" },
    { mime: undefined, base64: '{"no":1}' },
  ]) {
    it(`finds ${mime ?? "nothing"} in ${JSON.stringify(base64)}, as text and as bytes`, () => {
      assert.equal(sniffMime(base64), mime);
      assert.equal(sniffMimeOfBytes(Buffer.from(base64, "base64")), mime);
    });
  }
});
