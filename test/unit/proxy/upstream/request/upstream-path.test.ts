import assert from "node:assert/strict";
import fc from "fast-check";
import { upstreamPath } from "#proxy/upstream/request/upstream-path";
import { wireChannel } from "#test/support/wire-objects";

const gemini = "/models/{model}:{verb}";
const channelAt = (baseURL: string) => ({ channel: wireChannel("a", { baseURL }), credential: undefined });
const root = channelAt("https://models.example.com");

describe("upstreamPath()", () => {
  for (const row of [
    {
      name: "joins prefix and path",
      base: "https://h/v1",
      template: "/chat/completions",
      model: "m",
      want: "/v1/chat/completions",
    },
    { name: "has no prefix at the root", base: "https://h", template: "/messages", model: "m", want: "/messages" },
    { name: "adds no second slash", base: "https://h/v1/", template: "/messages", model: "m", want: "/v1/messages" },
    { name: "keeps a deep prefix", base: "https://h/a/b", template: "/c", model: "m", want: "/a/b/c" },
    {
      name: "keeps the query of a template",
      base: "https://h",
      template: "/c?api-version=1",
      model: "m",
      want: "/c?api-version=1",
    },
    {
      name: "fills in model and verb",
      base: "https://h/v1beta",
      template: gemini,
      model: "g-1",
      want: "/v1beta/models/g-1:generateContent",
    },
    {
      name: "encodes a slash",
      base: "https://h",
      template: gemini,
      model: "org/m",
      want: "/models/org%2Fm:generateContent",
    },
    {
      name: "encodes a colon",
      base: "https://h",
      template: gemini,
      model: "a:b",
      want: "/models/a%3Ab:generateContent",
    },
    {
      name: "encodes letters beyond ASCII",
      base: "https://h",
      template: gemini,
      model: "ü",
      want: "/models/%C3%BC:generateContent",
    },
    {
      name: "looks at no model where the template names none",
      base: "https://h",
      template: "/c",
      model: "../x",
      want: "/c",
    },
    {
      name: "takes dots inside a name",
      base: "https://h",
      template: gemini,
      model: "a..b",
      want: "/models/a..b:generateContent",
    },
    {
      name: "reads no pattern in a name",
      base: "https://h",
      template: gemini,
      model: "$&$1",
      want: "/models/%24%26%241:generateContent",
    },
  ]) {
    it(row.name, () =>
      assert.equal(upstreamPath(channelAt(row.base), row.template, row.model, "generateContent"), row.want),
    );
  }

  for (const model of [
    ".",
    "..",
    "../x",
    "a/../b",
    "a/.",
    "./a",
    "a b",
    "a\tb",
    "a\nb",
    "a%2fb",
    "a?b",
    "a#b",
    "a\\b",
    "a\0b",
    "a\u0085b",
    "a\u00a0b",
  ]) {
    it(`refuses the model ${JSON.stringify(model)}`, () => {
      assert.throws(() => upstreamPath(root, gemini, model, "generateContent"), { code: "model_not_found" });
    });
  }

  it("makes one segment of any name it takes, which an URL leaves as it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (model) => {
        let path = "";
        try {
          path = upstreamPath(root, gemini, model, "generateContent");
        } catch (error) {
          assert.ok(error instanceof Error && "code" in error && error.code === "model_not_found");
          return;
        }
        assert.match(path, /^\/models\/[^/?#\s]*:generateContent$/);
        assert.equal(new URL(path, "https://h").pathname, path);
      }),
    );
  });
});
