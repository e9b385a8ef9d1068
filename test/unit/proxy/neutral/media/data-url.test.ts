import assert from "node:assert/strict";
import fc from "fast-check";
import { GatewayError } from "#proxy/errors";
import { cleanBase64, dataUrl, mediaFromUrl, parseDataUrl } from "#proxy/neutral/media/data-url";

const png = "iVBORw0KGgo=";
const jpeg = "/9j/4AAQSkZJRgABAQAAAQ==";
const pdf = "JVBERi0xLjcKJb/3ov4K";

describe("parseDataUrl()", () => {
  for (const row of [
    { name: "reads type and data", url: `data:image/png;base64,${png}`, want: { mime: "image/png", base64: png } },
    { name: "takes any case", url: `DATA:Image/PNG;BASE64,${png}`, want: { mime: "image/png", base64: png } },
    {
      name: "leaves parameters out of the type",
      url: `data:text/plain;charset=utf-8;base64,aGk=`,
      want: { mime: "text/plain", base64: "aGk=" },
    },
    {
      name: "takes blanks around parameters",
      url: "data:text/plain; base64,aGk=",
      want: { mime: "text/plain", base64: "aGk=" },
    },
    {
      name: "makes base64 of percent-encoded text",
      url: "data:text/plain,h%C3%A9",
      want: { mime: "text/plain", base64: "aMOp" },
    },
    {
      name: "knows the type that is meant where none is given",
      url: "data:,hi",
      want: { mime: "text/plain", base64: "aGk=" },
    },
    {
      name: "drops line ends and blanks in the data",
      url: "data:image/png;base64,iVBO\r\nRw0K Ggo=",
      want: { mime: "image/png", base64: png },
    },
    {
      name: "undoes percent-encoded base64",
      url: "data:text/plain;base64,aGk%3D",
      want: { mime: "text/plain", base64: "aGk=" },
    },
    {
      name: "turns the alphabet of URLs into the standard one",
      url: "data:a/b;base64,-_-_",
      want: { mime: "a/b", base64: "+/+/" },
    },
    { name: "takes no data at all", url: "data:a/b;base64,", want: { mime: "a/b", base64: "" } },
    { name: "refuses broken base64", url: "data:image/png;base64,i*", want: undefined },
    { name: "refuses broken percent-encoding", url: "data:text/plain,%E0%A4%A", want: undefined },
    { name: "refuses a URL without a comma", url: "data:image/png;base64", want: undefined },
    { name: "refuses other schemes", url: "https://example.com/data:,", want: undefined },
  ]) {
    it(row.name, () => assert.deepEqual(parseDataUrl(row.url), row.want));
  }

  it("is the inverse of dataUrl() for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const base64 = Buffer.from(bytes).toString("base64");
        assert.deepEqual(parseDataUrl(dataUrl("image/png", base64)), { mime: "image/png", base64 });
      }),
    );
  });

  it("never throws", () => {
    fc.assert(fc.property(fc.string(), (text) => void parseDataUrl(`data:${text}`)));
  });
});

describe("mediaFromUrl()", () => {
  it("keeps an address as it is", () => {
    const media = mediaFromUrl("https://example.com/a.png", "image", "x");
    assert.deepEqual(media, {
      kind: "media",
      media: "image",
      source: { type: "url", url: "https://example.com/a.png" },
    });
  });

  it("pitfall 114: takes bare base64 for what its first bytes say", () => {
    assert.deepEqual(mediaFromUrl(png, "image", "x"), {
      kind: "media",
      media: "image",
      mime: "image/png",
      source: { type: "data", base64: png },
    });
  });

  it("corrects the label of a picture, which a provider would refuse", () => {
    assert.equal(mediaFromUrl(dataUrl("image/png", jpeg), "image", "x").mime, "image/jpeg");
  });

  it("believes the label of what it does not know", () => {
    assert.equal(mediaFromUrl("data:image/x-own;base64,AAAA", "image", "x").mime, "image/x-own");
  });

  it("makes a document of a PDF in a picture's place", () => {
    const media = mediaFromUrl(dataUrl("application/pdf", pdf), "image", "x");
    assert.equal(media.media, "document");
    assert.equal(media.mime, "application/pdf");
  });

  for (const url of [
    "gs://bucket/a.png",
    "file:///etc/passwd",
    "ftp://example.com/a",
    "hello",
    "",
    "blob:abc",
    "aGVsbG8gd29ybGQ=",
  ]) {
    it(`refuses ${JSON.stringify(url)} and names the field`, () => {
      assert.throws(
        () => mediaFromUrl(url, "image", "messages[0].content[1].image_url.url"),
        (error) =>
          error instanceof GatewayError &&
          error.code === "invalid_value" &&
          error.param === "messages[0].content[1].image_url.url" &&
          (url === "" || !error.message.includes(url)),
      );
    });
  }
});

describe("cleanBase64()", () => {
  it("keeps any base64 and nothing else", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1 }),
        fc.constantFrom("!", "\u00e9", "\u0141", "{", '"', "\u0000"),
        (bytes, other) => {
          const base64 = Buffer.from(bytes).toString("base64");
          assert.equal(cleanBase64(base64), base64);
          assert.equal(cleanBase64(base64.replace(/(.{4})/g, "$1\n")), base64);
          assert.equal(cleanBase64(base64 + other), undefined);
        },
      ),
    );
  });
});
