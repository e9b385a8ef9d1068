import assert from "node:assert/strict";
import { generateContentUpstream as format } from "#proxy/formats/generate-content/native/upstream-format";
import { editedBody, readBody, refusalOf } from "#test/support/calls/read-body";

const contents = [{ role: "user", parts: [{ text: "hi" }] }];

describe("generateContent: readCall", () => {
  for (const row of [
    { name: "accepts the least", body: { contents }, want: "accepted" },
    { name: "accepts contents as text", body: { contents: "hi" }, want: "accepted" },
    { name: "needs contents", body: {}, want: "missing_parameter contents" },
    { name: "refuses contents that are a number", body: { contents: 5 }, want: "invalid_type contents" },
    {
      name: "refuses temperature over 2",
      body: { contents, generationConfig: { temperature: 2.5 } },
      want: "invalid_value generationConfig.temperature",
    },
    {
      name: "spells the path as the client does",
      body: { contents, generation_config: { top_p: 2 } },
      want: "invalid_value generation_config.top_p",
    },
    {
      name: "checks the top level as well",
      body: { contents, max_output_tokens: -1 },
      want: "invalid_value max_output_tokens",
    },
    {
      name: "refuses a fractional count",
      body: { contents, generationConfig: { candidateCount: 1.5 } },
      want: "invalid_value generationConfig.candidateCount",
    },
    {
      name: "refuses a config that is no object",
      body: { contents, generationConfig: 5 },
      want: "invalid_type generationConfig",
    },
    {
      name: "refuses one field under two spellings",
      body: { contents, generationConfig: { topP: 1, top_p: 0 } },
      want: "invalid_value generationConfig.top_p",
    },
    {
      name: "refuses two configs",
      body: { contents, generationConfig: {}, generation_config: {} },
      want: "invalid_value generation_config",
    },
    { name: "refuses a chat body", body: { model: "m", messages: [] }, want: "wrong_protocol messages" },
    { name: "refuses a responses body", body: { model: "m", input: "hi" }, want: "wrong_protocol input" },
  ]) {
    it(row.name, () =>
      assert.equal(
        refusalOf(() => readBody(format, row.body)),
        row.want,
      ),
    );
  }

  it("reads model and stream from the path, the rest from either spelling", () => {
    const body = {
      contents: [{ parts: [{ inline_data: { mime_type: "image/png", data: "AA" } }] }],
      generation_config: { max_output_tokens: 7, candidateCount: 2 },
    };
    const call = readBody(format, body, { modelInPath: "g", geminiStream: "array" });
    const { model, stream, outputCap, candidates, attachments } = call;
    assert.deepEqual(
      { model, stream, outputCap, candidates, attachments },
      { model: "g", stream: true, outputCap: 7, candidates: 2, attachments: 1 },
    );
  });

  for (const row of [
    { name: "a cache", body: { cachedContent: "cachedContents/a" }, want: ["cachedContent"] },
    {
      name: "an uploaded file",
      body: {
        contents: [{ parts: [{ fileData: { fileUri: "https://generativelanguage.googleapis.com/v1beta/files/a" } }] }],
      },
      want: ["contents[0].parts[0].fileData.fileUri"],
    },
    {
      name: "a bucket",
      body: { contents: [{ parts: [{ file_data: { file_uri: "gs://b/o" } }] }] },
      want: ["contents[0].parts[0].file_data.file_uri"],
    },
    ...["fileSearchStoreNames", "file_search_store_names"].flatMap((name) =>
      [[{ fileSearch: { [name]: ["s"] } }], { fileSearch: { [name]: ["s"] } }].map((tools) => ({
        name: `stores of ${Array.isArray(tools) ? "a" : "a lone"} tool`,
        body: { tools },
        want: [`tools${Array.isArray(tools) ? "[0]" : ""}.fileSearch.${name}`],
      })),
    ),
    { name: "a lone tool's retrieval", body: { tools: { retrieval: {} } }, want: ["tools.retrieval"] },
    {
      name: "a file as all the contents",
      body: { contents: { fileData: { fileUri: "files/a" } } },
      want: ["contents.fileData.fileUri"],
    },
    {
      name: "no public address",
      body: { contents: [{ parts: [{ fileData: { fileUri: "https://www.youtube.com/watch?v=1" } }] }] },
      want: [],
    },
    {
      name: "no argument of that name",
      body: { contents: [{ parts: [{ functionCall: { name: "f", args: { fileUri: "files/a" } } }] }] },
      want: [],
    },
  ]) {
    it(`finds ${row.name} among references to upstream objects`, () =>
      assert.deepEqual(readBody(format, { contents, ...row.body }).upstreamObjects, row.want));
  }
});

describe("generateContent: editBody", () => {
  const text = '"contents":[{"role":"user","parts":[{"text":"hi"}]}]';
  for (const row of [
    {
      name: "leaves a provider's own body alone",
      body: `{ ${text}, "generationConfig": {"topP": 0.50} }`,
      want: `{ ${text}, "generationConfig": {"topP": 0.50} }`,
    },
    { name: "brings text to contents", body: '{"contents":"hi"}', want: `{${text}}` },
    {
      name: "brings a list of texts and parts to one content",
      body: '{"contents":["a",{"text":"b"}]}',
      want: '{"contents":[{"role":"user","parts":[{"text":"a"},{"text":"b"}]}]}',
    },
    {
      name: "brings a single content to a list",
      body: '{"contents":{"parts":[{"text":"a"}]}}',
      want: '{"contents":[{"parts":[{"text":"a"}]}]}',
    },
    {
      name: "brings a single part to a content",
      body: '{"contents":{"text":"a"}}',
      want: '{"contents":[{"role":"user","parts":[{"text":"a"}]}]}',
    },
    {
      name: "brings text to a system instruction",
      body: `{${text},"system_instruction":"S"}`,
      want: `{${text},"systemInstruction":{"parts":[{"text":"S"}]}}`,
    },
    {
      name: "brings snake_case and the top level to generationConfig",
      body: `{${text},"top_p":0.5,"generation_config":{"top_k":3}}`,
      want: `{${text},"generationConfig":{"topP":0.5,"topK":3}}`,
    },
    {
      name: "lets what stands in generationConfig win",
      body: `{${text},"temperature":1,"generationConfig":{"temperature":0}}`,
      want: `{${text},"generationConfig":{"temperature":0}}`,
    },
    {
      name: "wraps a single tool",
      body: `{${text},"tools":{"googleSearch":{}}}`,
      want: `{${text},"tools":[{"googleSearch":{}}]}`,
    },
    { name: "takes model and stream out", body: `{"model":"models/public",${text},"stream":true}`, want: `{${text}}` },
  ]) {
    it(row.name, () => assert.equal(editedBody(format, row.body), row.want));
  }

  it("sends the affordable cap", () =>
    assert.equal(
      editedBody(format, `{${text}}`, {}, { outputCap: 5 }),
      `{${text},"generationConfig":{"maxOutputTokens":5}}`,
    ));

  it("refuses a common member that Google does not know under Reject", () => {
    const edit = () =>
      editedBody(format, { contents, user: "u" }, { provider: "Gemini", unsupportedParameters: "Reject" });
    assert.equal(refusalOf(edit), "unsupported_parameter user");
  });

  for (const { value, want } of [
    { value: { maxOutputTokens: 3 }, want: { maxOutputTokens: 3 } },
    { value: { maxOutputTokens: 64 }, want: { maxOutputTokens: 5 } },
    { value: { max_output_tokens: 64, seed: 1 }, want: { max_output_tokens: 5, seed: 1 } },
    { value: { seed: 1 }, want: { seed: 1, maxOutputTokens: 5 } },
  ]) {
    for (const field of ["generationConfig", "generation_config"]) {
      it(`sends ${JSON.stringify(want)} where a rule sets ${JSON.stringify(value)} as ${field}`, () => {
        const edited = editedBody(format, `{${text}}`, { body: { set: [{ field, value }] } }, { outputCap: 5 });
        assert.equal(edited, `{${text},"${field}":${JSON.stringify(want)}}`);
      });
    }
  }
});
