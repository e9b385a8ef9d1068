import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import type { StreamedBody } from "#proxy/http1/client/upstream";
import { FormSplitter } from "#proxy/multipart/form-splitter";
import { boundaryOf, type WrittenPart, writeForm } from "#proxy/multipart/write-form";
import { contentOf } from "#test/support/form-server";

/** A body in pieces of this size, whose memory is used again. */
function bodyOf(content: Buffer, pieceBytes = 3): StreamedBody {
  return {
    length: content.length,
    async *chunks() {
      const memory = Buffer.alloc(pieceBytes);
      for (let from = 0; from < content.length; from += pieceBytes) {
        yield memory.subarray(0, content.copy(memory, 0, from, from + pieceBytes));
      }
    },
  };
}

const fileOf = (name: string, filename: string, content: Buffer, contentType?: string): WrittenPart => ({
  kind: "file",
  name,
  filename,
  contentType,
  content: bodyOf(content),
});

/** Parts as text: name, file name, type, content. */
async function readBack(body: StreamedBody, boundary: string): Promise<readonly (readonly (string | undefined)[])[]> {
  const parts: (string | undefined)[][] = [];
  const splitter = new FormSplitter(boundary, {
    onPart: ({ name, filename, contentType }) => void parts.push([name, filename, contentType, ""]),
    onData: (bytes) => parts.at(-1)?.splice(3, 1, `${parts.at(-1)?.[3]}${bytes.toString("latin1")}`),
    onPartEnd: () => {},
  });
  splitter.push(await contentOf(body));
  await splitter.end();
  return parts;
}

describe("writeForm", () => {
  it("writes parts in their order, each line as browsers write it", async () => {
    const content = Buffer.from("PNG");
    const parts: readonly WrittenPart[] = [
      { kind: "field", name: "model", value: "m" },
      fileOf("image[]", 'a "b".png', content, "image/png"),
      fileOf("image[]", "é\r\n", content),
      { kind: "field", name: "options", contentType: "application/json", value: "{}" },
      { kind: "field", name: "prompt", value: "zwei\r\nZeilen" },
    ];
    const { contentType, body } = writeForm(parts, "BOUNDARY");
    assert.equal(contentType, "multipart/form-data; boundary=BOUNDARY");
    const expected = [
      "--BOUNDARY",
      'Content-Disposition: form-data; name="model"',
      "",
      "m",
      "--BOUNDARY",
      'Content-Disposition: form-data; name="image[]"; filename="a %22b%22.png"',
      "Content-Type: image/png",
      "",
      "PNG",
      "--BOUNDARY",
      'Content-Disposition: form-data; name="image[]"; filename="é%0D%0A"',
      "",
      "PNG",
      "--BOUNDARY",
      'Content-Disposition: form-data; name="options"',
      "Content-Type: application/json",
      "",
      "{}",
      "--BOUNDARY",
      'Content-Disposition: form-data; name="prompt"',
      "",
      "zwei\r\nZeilen",
      "--BOUNDARY--",
      "",
    ].join("\r\n");
    for (let time = 0; time < 2; time += 1) assert.equal((await contentOf(body)).toString(), expected);
    assert.equal(body.length, Buffer.byteLength(expected));
  });

  it("writes a form without parts", async () => {
    assert.equal((await contentOf(writeForm([], "B").body)).toString(), "--B--\r\n");
  });

  it("reads nothing of a file whose bytes nobody asks for", async () => {
    let asked = 0;
    const content: StreamedBody = {
      length: 4,
      async *chunks() {
        asked += 1;
        yield Buffer.from("PN");
        yield Buffer.from("G!");
      },
    };
    const { body } = writeForm([{ kind: "file", name: "a", filename: "a", contentType: undefined, content }], "B");
    const pieces = body.chunks()[Symbol.asyncIterator]();
    await pieces.next();
    assert.equal(asked, 0);
    await pieces.next();
    assert.equal(asked, 1);
    await pieces.return?.();
  });

  it("is at hand where its files are", () => {
    const content = Buffer.from("PNG!");
    const parts: readonly WrittenPart[] = [
      { kind: "field", name: "n", value: "1" },
      fileOf("a", "a", content, undefined),
    ];
    const inMemory = parts.map((part) =>
      part.kind === "field" ? part : { ...part, content: { ...part.content, pieces: [content] } },
    );
    const { body } = writeForm(inMemory, "B");
    const pieces = body.pieces ?? [];
    assert.equal(Buffer.concat(pieces).length, body.length);
    assert.ok(pieces.includes(content), "the file is sent from where it lies");
    assert.equal(writeForm([...inMemory, ...parts], "B").body.pieces, undefined);
  });

  it("writes what is read back as it was, and says its length beforehand", async () => {
    const name = fc
      .string({ minLength: 1, maxLength: 60, unit: "grapheme" })
      .filter((text) => /^[^\\\x00-\x1f\x7f]{1,128}$/.test(text));
    const part = fc.record({
      name,
      filename: fc.option(name, { nil: undefined }),
      content: fc.uint8Array({ maxLength: 50 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (given) => {
        const parts = given.map(({ name, filename, content }): WrittenPart => {
          const bytes = Buffer.from(content);
          if (filename !== undefined) return fileOf(name, filename, bytes, "image/png");
          return { kind: "field", name, value: bytes.toString("hex") };
        });
        const boundary = boundaryOf(randomBytes(16));
        const { body } = writeForm(parts, boundary);
        assert.equal(body.length, (await contentOf(body)).length);
        assert.deepEqual(
          await readBack(body, boundary),
          given.map(({ name, filename, content }) => {
            const bytes = Buffer.from(content);
            const isFile = filename !== undefined;
            return [name, filename, isFile ? "image/png" : undefined, bytes.toString(isFile ? "latin1" : "hex")];
          }),
        );
      }),
      { numRuns: 300 },
    );
  });

  it("makes boundaries that RFC 2046 allows", () => {
    assert.match(boundaryOf(randomBytes(16)), /^[0-9a-z-]{41}$/);
  });
});
