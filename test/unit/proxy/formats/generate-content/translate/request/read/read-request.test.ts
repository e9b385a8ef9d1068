import assert from "node:assert/strict";
import fc from "fast-check";
import { GatewayError } from "#proxy/errors";
import { generateContentClientTranslator } from "#proxy/formats/generate-content/translate/client-translator";
import type { JsonObject } from "#proxy/json/json-value";
import type { Conversation } from "#proxy/neutral/conversation";
import { endpoint } from "#test/unit/proxy/formats/generate-content/translate/replay";

const hi = { role: "user", parts: [{ text: "hi" }] };

function read(body: JsonObject): Conversation {
  return generateContentClientTranslator.readRequest(body, endpoint);
}

describe("readRequest() of generateContent: what it refuses", () => {
  const inlineData = { mimeType: "image/png", data: "iVBORw0KGgo=" };
  for (const row of [
    { name: "cached content", body: { cachedContent: "c/1" }, code: "unsupported_parameter", param: "cachedContent" },
    {
      name: "a continuation",
      body: { continuationToken: "t" },
      code: "unsupported_parameter",
      param: "continuationToken",
    },
    {
      name: "a form of sound in the reply",
      body: { generationConfig: { responseFormat: { audio: { mimeType: "AUDIO_MP3" } } } },
      code: "unsupported_parameter",
      param: "generationConfig.responseFormat.audio",
    },
    {
      name: "a flag that is a text",
      body: { generationConfig: { responseLogprobs: "yes" } },
      code: "invalid_type",
      param: "generationConfig.responseLogprobs",
    },
    {
      name: "a number that is a word",
      body: { temperature: "warm" },
      code: "invalid_type",
      param: "temperature",
    },
    {
      name: "an unknown role",
      body: { contents: [hi, { role: "system", parts: [{ text: "x" }] }] },
      code: "invalid_value",
      param: "contents[1].role",
    },
    {
      name: "an unknown kind of part",
      body: { contents: [{ parts: [{ hologram: {} }] }] },
      code: "invalid_value",
      param: "contents[0].parts[0].hologram",
    },
    {
      name: "a part without data",
      body: { contents: [{ parts: [{}] }] },
      code: "invalid_value",
      param: "contents[0].parts[0]",
    },
    {
      name: "a part with two kinds of data",
      body: { contents: [{ parts: [{ text: "x", inlineData }] }] },
      code: "invalid_value",
      param: "contents[0].parts[0]",
    },
    {
      name: "a part that is a number",
      body: { contents: [{ parts: [1] }] },
      code: "invalid_type",
      param: "contents[0].parts[0]",
    },
    { name: "contents that say nothing", body: { contents: [] }, code: "invalid_value", param: "contents" },
    { name: "contents of another type", body: { contents: 1 }, code: "invalid_type", param: "contents" },
    {
      name: "a file without a type",
      body: { contents: [{ parts: [{ inlineData: { data: "AAAA" } }] }] },
      code: "invalid_value",
      param: "contents[0].parts[0].inlineData.mimeType",
    },
    {
      name: "data that is no base64",
      body: { contents: [{ parts: [{ inlineData: { mimeType: "image/png", data: "?" } }] }] },
      code: "invalid_value",
      param: "contents[0].parts[0].inlineData.data",
    },
    {
      name: "a file in Google's storage",
      body: { contents: [{ parts: [{ fileData: { fileUri: "gs://b/a" } }] }] },
      code: "unsupported_parameter",
      param: "contents[0].parts[0].fileData.fileUri",
    },
    {
      name: "a call of the user",
      body: { contents: [{ parts: [{ functionCall: { name: "f" } }] }] },
      code: "invalid_value",
      param: "contents[0].parts[0].functionCall",
    },
    {
      name: "a result of the model",
      body: { contents: [{ role: "model", parts: [{ functionResponse: { name: "f" } }] }] },
      code: "invalid_value",
      param: "contents[0].parts[0].functionResponse",
    },
    {
      name: "arguments that are a list",
      body: { contents: [{ role: "model", parts: [{ functionCall: { name: "f", args: [] } }] }] },
      code: "invalid_type",
      param: "contents[0].parts[0].functionCall.args",
    },
    {
      name: "a result that is a text",
      body: { contents: [{ parts: [{ functionResponse: { name: "f", response: "x" } }] }] },
      code: "invalid_type",
      param: "contents[0].parts[0].functionResponse.response",
    },
    {
      name: "an image in the system instruction",
      body: { systemInstruction: { parts: [{ inlineData }] } },
      code: "invalid_value",
      param: "systemInstruction.parts[0]",
    },
    {
      name: "pitfall 80: an unknown tool",
      body: { tools: [{ telepathy: {} }] },
      code: "invalid_value",
      param: "tools[0].telepathy",
    },
    {
      name: "a declaration without a name",
      body: { tools: [{ functionDeclarations: [{}] }] },
      code: "invalid_value",
      param: "tools[0].functionDeclarations[0].name",
    },
    {
      name: "an unknown mode",
      body: { toolConfig: { functionCallingConfig: { mode: "MAYBE" } } },
      code: "invalid_value",
      param: "toolConfig.functionCallingConfig.mode",
    },
    {
      name: "an unknown level",
      body: { generationConfig: { thinkingConfig: { thinkingLevel: "TOTAL" } } },
      code: "invalid_value",
      param: "generationConfig.thinkingConfig.thinkingLevel",
    },
    {
      name: "an unknown type of output",
      body: { generationConfig: { responseMimeType: "image/png" } },
      code: "invalid_value",
      param: "generationConfig.responseMimeType",
    },
    {
      name: "several speakers",
      body: { generationConfig: { speechConfig: { multiSpeakerVoiceConfig: {} } } },
      code: "unsupported_parameter",
      param: "generationConfig.speechConfig.multiSpeakerVoiceConfig",
    },
  ]) {
    it(`refuses ${row.name}`, () => {
      assert.throws(
        () => read({ contents: [hi], ...row.body }),
        (error) => error instanceof GatewayError && error.code === row.code && error.param === row.param,
      );
    });
  }

  it("never throws anything else, whatever the JSON is", () => {
    const names = fc.constantFrom(
      ...[
        "contents",
        "parts",
        "role",
        "text",
        "functionCall",
        "functionResponse",
        "args",
        "name",
        "response",
        "inlineData",
      ],
      ...[
        "mimeType",
        "data",
        "tools",
        "functionDeclarations",
        "parameters",
        "generationConfig",
        "thinkingConfig",
        "toolConfig",
      ],
      ...["systemInstruction", "__proto__", "fileData", "fileUri", "thoughtSignature", "responseSchema", "properties"],
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom<unknown>("model", "user", "x", "", 0, 1, -1, true, null, "https://x.test/a"),
        fc.dictionary(names, tie("value"), { maxKeys: 5, noNullPrototype: false }),
        fc.array(tie("value"), { maxLength: 3 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(names, value), (body) => {
        try {
          read(body);
        } catch (error) {
          assert.ok(error instanceof GatewayError, String(error));
        }
      }),
      { numRuns: 500 },
    );
  });
});
