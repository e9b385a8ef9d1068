import assert from "node:assert/strict";
import { generateContentClientTranslator } from "#proxy/formats/generate-content/translate/client-translator";
import type { JsonObject } from "#proxy/json/json-value";
import { openKeeper } from "./replay.ts";

const sealed = Buffer.from(openKeeper.seal([{ kind: "redacted-thinking", data: "x" }])).toString("base64");
const model = (...parts: readonly JsonObject[]): JsonObject => ({ role: "model", parts });
const hi = { role: "user", parts: [{ text: "hi" }] };

describe("removeSealedState() of generateContent", () => {
  for (const row of [
    {
      name: "takes a signature off a text",
      contents: [hi, model({ text: "a", thoughtSignature: sealed })],
      want: [hi, model({ text: "a" })],
    },
    {
      name: "takes a text away that was only there for its signature",
      contents: [model({ text: "a" }, { text: "", thoughtSignature: sealed })],
      want: [model({ text: "a" })],
    },
    {
      name: "takes a content away that nothing is left of",
      contents: [hi, model({ text: "", thoughtSignature: sealed }), hi],
      want: [hi, hi],
    },
    {
      name: "keeps calls signed with what Google documents",
      contents: [model({ functionCall: { name: "f" }, thoughtSignature: sealed })],
      want: [model({ functionCall: { name: "f" }, thoughtSignature: "skip_thought_signature_validator" })],
    },
    {
      name: "reads snake_case",
      contents: [model({ text: "a", thought_signature: sealed })],
      want: [model({ text: "a" })],
    },
    {
      name: "reads a single content",
      contents: model({ text: "a", thoughtSignature: sealed }),
      want: [model({ text: "a" })],
    },
  ]) {
    it(row.name, () => {
      const got = generateContentClientTranslator.removeSealedState({ contents: row.contents, tools: [] });
      assert.deepEqual(got, { contents: row.want, tools: [] });
    });
  }

  it("pitfall 92: leaves Google's own signatures, and returns the same body when there is nothing to take", () => {
    const body = { contents: [hi, model({ text: "a", thoughtSignature: "U0lH" }), { role: "user" }, 1] };
    assert.equal(generateContentClientTranslator.removeSealedState(body), body);
  });
});
