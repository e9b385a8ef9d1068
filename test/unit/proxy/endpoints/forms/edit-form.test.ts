/** Fields of a form are members of an object while rules are applied, and fields again when it goes upstream. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { editForm } from "#proxy/endpoints/forms/edit-form";
import { readFormFields } from "#proxy/endpoints/forms/form-fields";
import type { UpstreamPlan } from "#proxy/formats/format";
import { defaultLimits } from "#proxy/limits";
import type { Form, FormPart } from "#proxy/multipart/form";
import { FormSplitter } from "#proxy/multipart/form-splitter";
import { contentOf } from "#test/support/form-server";
import { wireChannel } from "#test/support/wire-objects";

const texts = new Set(["prompt", "model"]);

function field(name: string, value: string): FormPart {
  return { kind: "field", name, value };
}

function file(name: string, content: string): FormPart {
  const bytes = Buffer.from(content);
  const body = {
    length: bytes.length,
    start: bytes,
    async *chunks() {
      yield bytes;
    },
  };
  return { kind: "file", name, filename: `${name}.png`, contentType: "image/png", content: body };
}

function planOf(channel: Parameters<typeof wireChannel>[1] = {}): UpstreamPlan {
  return {
    channel: wireChannel("c", channel),
    upstreamModel: "upstream-model",
    targetRules: undefined,
    outputCap: undefined,
  };
}

/** Name and content of each part that goes upstream. */
async function written(parts: readonly FormPart[], plan: UpstreamPlan): Promise<readonly string[]> {
  const form: Pick<Form, "parts"> = { parts };
  const { body, contentType } = editForm(
    { form, fields: readFormFields(form, texts, defaultLimits) },
    "ImageEdits",
    plan,
  );
  const found: string[] = [];
  const splitter = new FormSplitter(contentType?.split("boundary=")[1] ?? "", {
    onPart: ({ name }) => void found.push(`${name}=`),
    onData: (bytes) => void found.push(`${found.pop() ?? ""}${bytes.toString()}`),
    onPartEnd: () => {},
  });
  assert.ok(!Buffer.isBuffer(body));
  splitter.push(await contentOf(body));
  await splitter.end();
  return found;
}

describe("readFormFields", () => {
  for (const row of [
    {
      name: "reads numbers and flags",
      parts: [field("n", "2"), field("stream", "true")],
      want: { n: 2, stream: true },
    },
    { name: "leaves texts as they are", parts: [field("prompt", "7")], want: { prompt: "7" } },
    { name: "leaves what is nearly a number", parts: [field("n", "02"), field("m", "+1")], want: { n: "02", m: "+1" } },
    {
      name: "makes a list of what stands there several times, in any spelling",
      parts: [field("a[]", "1"), field("b", "1"), field("b", "x"), field("c[1]", "1"), field("c[]", "true")],
      want: { a: [1], b: [1, "x"], c: [1, true] },
    },
    {
      name: "makes an object of names with brackets",
      parts: [field("vad[type]", "server_vad"), field("vad[threshold]", "0.5"), field("vad[a][b]", "1")],
      want: { vad: { type: "server_vad", threshold: 0.5, "a][b": 1 } },
    },
    { name: "takes a bracket at the start for a name", parts: [field("[a]", "1")], want: { "[a]": 1 } },
    { name: "takes files for objects", parts: [file("model", "x")], want: { model: {} } },
    { name: "makes a list of files", parts: [file("a", "x"), file("a[]", "y")], want: { a: [{}, {}] } },
    { name: "takes names of inherited members", parts: [field("constructor", "x")], want: { constructor: "x" } },
  ]) {
    it(row.name, () => {
      const fields = readFormFields({ parts: row.parts }, texts, defaultLimits);
      assert.deepEqual(JSON.parse(fields.bytes.toString()), row.want);
    });
  }

  it("refuses a name that is given in two ways", () => {
    const parts = [field("user[id]", "1"), field("user", "2")];
    assert.throws(() => readFormFields({ parts }, texts, defaultLimits), { code: "invalid_form", param: "user" });
  });
});

describe("editForm", () => {
  it("renames the model in its place and leaves everything else", async () => {
    const parts = [file("image[]", "PNG1"), field("n", "1.50"), field("model", "public"), file("image[]", "PNG2")];
    const want = ["image[]=PNG1", "n=1.50", "model=upstream-model", "image[]=PNG2"];
    assert.deepEqual(await written(parts, planOf()), want);
  });

  it("applies the rules of a channel to fields", async () => {
    const body = {
      remove: ["style"],
      default: [{ field: "quality", value: "low" }],
      set: [{ field: "n", value: 1 }],
    };
    const parts = [field("style", "vivid"), field("n", "4"), field("model", "public"), field("user", "u-1")];
    const want = ["n=1", "model=upstream-model", "user=u-1", "quality=low"];
    assert.deepEqual(await written(parts, planOf({ body })), want);
  });

  for (const parts of [
    [field("user", "u-1")],
    [field("user", "u-1"), field("user", "u-2")],
    [field("user[]", "u-1")],
    [field("user[id]", "u-1"), field("user[name]", "Ada")],
    [field("metadata[a]", "1"), file("user", "u-1")],
  ]) {
    it(`takes out who the client says it is: ${parts.map(({ name }) => name).join(", ")}`, async () => {
      const { privacy } = wireChannel("c");
      const channel = { privacy: { ...privacy, clientMetadata: "Strip" as const } };
      assert.deepEqual(await written([field("model", "public"), ...parts], planOf(channel)), ["model=upstream-model"]);
    });
  }

  it("removes, fills and replaces a member with all its parts", async () => {
    const body = {
      remove: ["mask"],
      default: [{ field: "include", value: ["x"] }],
      set: [{ field: "vad", value: { type: "none" } }],
    };
    const parts = [
      file("mask", "PNG"),
      field("vad[type]", "server_vad"),
      field("include[]", "logprobs"),
      field("vad[threshold]", "0.50"),
    ];
    const want = ['vad={"type":"none"}', "include[]=logprobs", "model=upstream-model"];
    assert.deepEqual(await written(parts, planOf({ body })), want);
  });

  it("never changes a field that no rule names", async () => {
    const value = fc.oneof(fc.string(), fc.double().map(String), fc.constantFrom("true", "null", "1e5", "{}", "[1]"));
    const name = fc.constantFrom("a", "b", "c[]", "d[x]", "d[y]", "__proto__", "prompt");
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.tuple(name, value), { maxLength: 6, selector: ([each]) => each }),
        async (fields) => {
          const parts = [field("model", "public"), ...fields.map(([each, text]) => field(each, text))];
          const want = ["model=upstream-model", ...fields.map(([each, text]) => `${each}=${text}`)];
          assert.deepEqual(
            await written(parts, planOf()),
            want.map((each) => Buffer.from(each).toString()),
          );
        },
      ),
      { numRuns: 100 },
    );
  });
});
