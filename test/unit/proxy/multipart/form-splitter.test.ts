import assert from "node:assert/strict";
import fc from "fast-check";
import { GatewayError } from "#proxy/errors";
import { FormSplitter } from "#proxy/multipart/form-splitter";
import { formRows } from "#test/support/form-rows";
import { file, formOf } from "#test/support/form-server";

interface SplitPart {
  readonly name: string;
  readonly filename: string | undefined;
  readonly type: string | undefined;
  content: string;
  isWhole: boolean;
}

/** The parts of a form that comes in these pieces, or the code of its refusal. */
async function split(pieces: readonly Buffer[], boundary = "b"): Promise<readonly SplitPart[] | string> {
  const parts: SplitPart[] = [];
  const splitter = new FormSplitter(boundary, {
    onPart: ({ name, filename, contentType }) =>
      void parts.push({ name, filename, type: contentType, content: "", isWhole: false }),
    onData: (bytes) => {
      const last = parts.at(-1);
      assert.ok(last !== undefined && !last.isWhole);
      last.content += bytes.toString("latin1");
    },
    onPartEnd: () => {
      const last = parts.at(-1);
      assert.ok(last !== undefined && !last.isWhole);
      last.isWhole = true;
    },
  });
  try {
    for (const piece of pieces) {
      splitter.push(piece);
      // A piece may share its memory with the next one: nothing of it may be needed any more.
      piece.fill(0);
    }
    await splitter.end();
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    return error.code;
  }
  assert.ok(parts.every(({ isWhole }) => isWhole));
  return parts;
}

function cutAt(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const ends = [...places, bytes.length];
  return ends.map((end, index) => Buffer.from(bytes.subarray(ends[index - 1] ?? 0, end)));
}

describe("FormSplitter", () => {
  for (const { name, body, boundary } of formRows.filter((row) => row.body.length < 2_000)) {
    it(`reads ${name} the same wherever it is cut`, async () => {
      const whole = await split([Buffer.from(body)], boundary);
      for (let cut = 1; cut < body.length; cut += 1) {
        assert.deepEqual(await split(cutAt(body, [cut]), boundary), whole, `cut at ${cut}`);
      }
      assert.deepEqual(
        await split(
          Array.from(body, (byte) => Buffer.of(byte)),
          boundary,
        ),
        whole,
        "byte by byte",
      );
    });
  }

  it("gives back the content of files, whatever is in it but the boundary, however it is cut", async () => {
    const byte = fc.constantFrom(..."\r\n-bx");
    const content = fc.array(byte, { maxLength: 40 }).map((bytes) => bytes.join(""));
    const contents = fc.array(
      content.filter((text) => !`\r\n${text}`.includes("\r\n--b")),
      { maxLength: 4 },
    );
    const places = fc.array(fc.nat(400), { maxLength: 6 }).map((all) => all.toSorted((one, other) => one - other));
    await fc.assert(
      fc.asyncProperty(contents, places, async (given, cuts) => {
        const body = formOf(given.map((text) => file("a", text)));
        const parts = await split(
          cutAt(
            body,
            cuts.filter((cut) => cut < body.length),
          ),
        );
        assert.ok(typeof parts !== "string", String(parts));
        assert.deepEqual(
          parts.map((part) => part.content),
          given,
        );
      }),
      { numRuns: 500 },
    );
  });
});
