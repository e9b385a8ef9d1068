import assert from "node:assert/strict";
import { chatCompletionsUpstream as format } from "#proxy/formats/chat-completions/native/upstream-format";
import { editedBody, readBody, refusalOf, usualPrivacy } from "#test/support/calls/read-body";

const messages = [{ role: "user", content: "hi" }];
const usual = { model: "public", messages };

describe("chat completions: readCall", () => {
  for (const row of [
    { name: "accepts the least", body: usual, want: "accepted" },
    { name: "needs a model", body: { messages }, want: "missing_parameter model" },
    { name: "takes a null model for absent", body: { model: null, messages }, want: "missing_parameter model" },
    { name: "wants a model that is text", body: { model: 5, messages }, want: "invalid_type model" },
    { name: "refuses an empty model", body: { model: "", messages }, want: "invalid_value model" },
    { name: "needs messages", body: { model: "m" }, want: "missing_parameter messages" },
    { name: "wants a list of messages", body: { model: "m", messages: "hi" }, want: "invalid_type messages" },
    { name: "refuses no messages", body: '{"model":"m","messages":[ ]}', want: "invalid_value messages" },
    {
      name: "takes null for absent",
      body: { ...usual, temperature: null, stop: null, tools: null, n: null },
      want: "accepted",
    },
    { name: "accepts temperature 0", body: { ...usual, temperature: 0 }, want: "accepted" },
    { name: "accepts temperature 2", body: { ...usual, temperature: 2 }, want: "accepted" },
    { name: "refuses temperature over 2", body: { ...usual, temperature: 2.01 }, want: "invalid_value temperature" },
    { name: "refuses temperature below 0", body: { ...usual, temperature: -0.1 }, want: "invalid_value temperature" },
    {
      name: "refuses a temperature that is text",
      body: { ...usual, temperature: "1" },
      want: "invalid_type temperature",
    },
    {
      name: "refuses a number no double can hold",
      body: '{"model":"m","messages":[1],"temperature":1e400}',
      want: "invalid_value temperature",
    },
    { name: "refuses top_p over 1", body: { ...usual, top_p: 1.1 }, want: "invalid_value top_p" },
    {
      name: "refuses penalties over 2",
      body: { ...usual, presence_penalty: 2.5 },
      want: "invalid_value presence_penalty",
    },
    {
      name: "refuses penalties below -2",
      body: { ...usual, frequency_penalty: -3 },
      want: "invalid_value frequency_penalty",
    },
    { name: "refuses top_logprobs over 20", body: { ...usual, top_logprobs: 21 }, want: "invalid_value top_logprobs" },
    { name: "accepts n 128", body: { ...usual, n: 128 }, want: "accepted" },
    { name: "refuses n 0", body: { ...usual, n: 0 }, want: "invalid_value n" },
    { name: "refuses n 129", body: { ...usual, n: 129 }, want: "invalid_value n" },
    { name: "refuses n -1", body: { ...usual, n: -1 }, want: "invalid_value n" },
    { name: "refuses n 1e9", body: { ...usual, n: 1e9 }, want: "invalid_value n" },
    { name: "accepts a cap of 0", body: { ...usual, max_tokens: 0 }, want: "accepted" },
    { name: "refuses a negative cap", body: { ...usual, max_tokens: -1 }, want: "invalid_value max_tokens" },
    {
      name: "refuses a fractional cap",
      body: { ...usual, max_completion_tokens: 1.5 },
      want: "invalid_value max_completion_tokens",
    },
    { name: "refuses a huge cap", body: { ...usual, max_tokens: 1e18 }, want: "invalid_value max_tokens" },
    { name: "refuses stream that is no boolean", body: { ...usual, stream: "yes" }, want: "invalid_type stream" },
    {
      name: "refuses stream_options that are no object",
      body: { ...usual, stream_options: true },
      want: "invalid_type stream_options",
    },
    {
      name: "names the path of a nested option",
      body: { ...usual, stream_options: { include_usage: 1 } },
      want: "invalid_type stream_options.include_usage",
    },
    { name: "accepts unknown members", body: { ...usual, brand_new: { a: 1 } }, want: "accepted" },
    { name: "accepts a top_k of -1, which some servers know", body: { ...usual, top_k: -1 }, want: "accepted" },
    { name: "refuses a contents-style body", body: { contents: [] }, want: "wrong_protocol contents" },
    {
      name: "refuses generationConfig",
      body: { ...usual, generationConfig: {} },
      want: "wrong_protocol generationConfig",
    },
    { name: "refuses a responses body", body: { model: "m", input: "hi" }, want: "wrong_protocol input" },
    {
      name: "refuses a messages-style body",
      body: { ...usual, system: "s", max_tokens: 5 },
      want: "wrong_protocol system",
    },
  ]) {
    it(row.name, () =>
      assert.equal(
        refusalOf(() => readBody(format, row.body)),
        row.want,
      ),
    );
  }

  it("reads what the estimate and the stream need", () => {
    const parts = [
      { type: "text", text: "look" },
      { type: "image_url", image_url: { url: "https://a.example/b.png" } },
      { type: "file", file: { file_data: "data:application/pdf;base64,AAAA" } },
    ];
    const call = readBody(format, {
      ...usual,
      messages: [{ role: "user", content: parts }],
      n: 3,
      max_tokens: 9,
      max_completion_tokens: 7,
      stream: true,
      stream_options: { include_usage: true },
    });
    const { model, stream, outputCap, candidates, attachments, wantsStreamUsage, upstreamObjects } = call;
    assert.deepEqual(
      { model, stream, outputCap, candidates, attachments, wantsStreamUsage, upstreamObjects },
      {
        model: "public",
        stream: true,
        outputCap: 9,
        candidates: 3,
        attachments: 2,
        wantsStreamUsage: true,
        upstreamObjects: [],
      },
    );
  });

  for (const row of [
    { name: "max_tokens alone", caps: { max_tokens: 9 }, want: 9 },
    { name: "max_completion_tokens alone", caps: { max_tokens: null, max_completion_tokens: 7 }, want: 7 },
    {
      name: "the larger of both, since servers differ in which they know",
      caps: { max_tokens: 60_000, max_completion_tokens: 1 },
      want: 60_000,
    },
    { name: "the larger of both the other way", caps: { max_tokens: 1, max_completion_tokens: 70 }, want: 70 },
    { name: "neither", caps: {}, want: undefined },
  ]) {
    it(`reads the cap to reserve for from ${row.name}`, () =>
      assert.equal(readBody(format, { ...usual, ...row.caps }).outputCap, row.want));
  }

  for (const row of [
    {
      name: "a file",
      body: { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "file-a" } }] }] },
      want: ["messages[0].content[0].file.file_id"],
    },
    {
      name: "earlier audio",
      body: { messages: [{ role: "assistant", audio: { id: "audio_1" } }] },
      want: ["messages[0].audio"],
    },
    { name: "a stored response", body: { messages, previous_response_id: "resp_1" }, want: ["previous_response_id"] },
    {
      name: "a file of a server that takes its id beside the type",
      body: { messages: [{ role: "user", content: [{ type: "file", file_id: "f" }] }] },
      want: ["messages[0].content[0].file_id"],
    },
    ...[
      { item: { vector_store_ids: ["v"] }, path: "vector_store_ids" },
      { item: { container: "c" }, path: "container" },
      { item: { container: { type: "auto" } }, path: "container" },
      { item: { connector_id: "c" }, path: "connector_id" },
    ].flatMap(({ item, path }) => [
      { name: `${path} of a tool`, body: { messages, tools: [item] }, want: [`tools[0].${path}`] },
      { name: `${path} of a lone tool`, body: { messages, tools: item }, want: [`tools.${path}`] },
    ]),
    {
      name: "no property of a schema",
      body: {
        messages,
        tools: [
          { type: "function", function: { name: "f", parameters: { properties: { file_id: { type: "string" } } } } },
        ],
      },
      want: [],
    },
  ]) {
    it(`finds ${row.name} among references to upstream objects`, () =>
      assert.deepEqual(readBody(format, { model: "m", ...row.body }).upstreamObjects, row.want));
  }
});

describe("chat completions: editBody", () => {
  const text = '"messages":[{"role":"user","content":"hi"}]';
  for (const row of [
    {
      name: "replaces the model and nothing else",
      body: `{ "model" : "public", ${text}, "temperature":1.0, "x":12345678901234567890 }`,
      want: `{ "model" : "upstream", ${text}, "temperature":1.0, "x":12345678901234567890 }`,
    },
    {
      name: "asks for usage in a stream",
      body: `{"model":"p",${text},"stream":true}`,
      want: `{"model":"upstream",${text},"stream":true,"stream_options":{"include_usage":true}}`,
    },
    {
      name: "asks for usage against the client's no",
      body: `{"model":"p",${text},"stream":true,"stream_options":{"include_usage":false}}`,
      want: `{"model":"upstream",${text},"stream":true,"stream_options":{"include_usage":true}}`,
    },
    {
      name: "takes obfuscation out and stream_options with it",
      body: `{"model":"p",${text},"stream_options":{"include_obfuscation":false}}`,
      want: `{"model":"upstream",${text}}`,
    },
    {
      name: "keeps obfuscation where allowed",
      body: `{"model":"p",${text},"stream_options":{"include_obfuscation":false}}`,
      channel: { privacy: { ...usualPrivacy, streamObfuscation: "Forward" as const } },
      want: `{"model":"upstream",${text},"stream_options":{"include_obfuscation":false}}`,
    },
    {
      name: "takes safety_identifier out",
      body: `{"model":"p",${text},"safety_identifier":"me"}`,
      want: `{"model":"upstream",${text}}`,
    },
    {
      name: "keeps safety_identifier where allowed",
      body: `{"model":"p",${text},"safety_identifier":"me"}`,
      channel: { privacy: { ...usualPrivacy, safetyIdentifier: "Forward" as const } },
      want: `{"model":"upstream",${text},"safety_identifier":"me"}`,
    },
    {
      name: "passes store",
      body: `{"model":"p",${text},"store":true}`,
      want: `{"model":"upstream",${text},"store":true}`,
    },
    {
      name: "forces store off",
      body: `{"model":"p",${text},"store":true}`,
      channel: { privacy: { ...usualPrivacy, store: "ForceFalse" as const } },
      want: `{"model":"upstream",${text},"store":false}`,
    },
    {
      name: "forces store off where absent",
      body: `{"model":"p",${text}}`,
      channel: { privacy: { ...usualPrivacy, store: "ForceFalse" as const } },
      want: `{"model":"upstream",${text},"store":false}`,
    },
    {
      name: "keeps what a rule of the channel's puts in the place of client metadata",
      body: `{"model":"p",${text},"metadata":{"user_id":"a","x":"y"},"user":"b"}`,
      channel: {
        privacy: { ...usualPrivacy, clientMetadata: "Strip" as const },
        body: { set: [{ field: "user", value: "fixed" }] },
      },
      want: `{"model":"upstream",${text},"user":"fixed"}`,
    },
    {
      name: "takes client metadata out",
      body: `{"model":"p",${text},"metadata":{"a":"b"},"user":"u"}`,
      channel: { privacy: { ...usualPrivacy, clientMetadata: "Strip" as const } },
      want: `{"model":"upstream",${text}}`,
    },
    {
      name: "wraps a single tool",
      body: `{"model":"p",${text},"tools":{"type":"function"}}`,
      want: `{"model":"upstream",${text},"tools":[{"type":"function"}]}`,
    },
    {
      name: "sends the id of a user object",
      body: `{"model":"p",${text},"user":{"id":"u1","x":1}}`,
      want: `{"model":"upstream",${text},"user":"u1"}`,
    },
    {
      name: "ignores what the provider does not know",
      body: `{"model":"p",${text},"top_k":5}`,
      channel: { provider: "OpenAI" as const },
      want: `{"model":"upstream",${text}}`,
    },
    {
      name: "passes it to compatible servers",
      body: `{"model":"p",${text},"top_k":5}`,
      want: `{"model":"upstream",${text},"top_k":5}`,
    },
    {
      name: "applies default, set and remove",
      body: `{"model":"p",${text},"a":1,"b":2,"c":null}`,
      channel: {
        body: {
          default: [
            { field: "a", value: 9 },
            { field: "c", value: 3 },
          ],
          set: [{ field: "d", value: [4] }],
          remove: ["b"],
        },
      },
      want: `{"model":"upstream",${text},"a":1,"c":3,"d":[4]}`,
    },
  ]) {
    it(row.name, () => assert.equal(editedBody(format, row.body, row.channel), row.want));
  }

  it("never lets a rule choose the model", () => {
    const body = { set: [{ field: "model", value: "other" }] };
    assert.equal(editedBody(format, `{"model":"p",${text}}`, { body }), `{"model":"upstream",${text}}`);
  });

  it("names a field under Reject", () => {
    const edit = () =>
      editedBody(format, { ...usual, top_k: 5 }, { provider: "OpenAI", unsupportedParameters: "Reject" });
    assert.equal(refusalOf(edit), "unsupported_parameter top_k");
  });

  it("lets the target's rules follow the channel's", () => {
    const targetRules = { set: [{ field: "a", value: 2 }] };
    const edited = editedBody(
      format,
      `{"model":"p",${text}}`,
      { body: { set: [{ field: "a", value: 1 }] } },
      { targetRules },
    );
    assert.equal(edited, `{"model":"upstream",${text},"a":2}`);
  });

  for (const row of [
    { provider: "OpenAI" as const, member: "max_completion_tokens" },
    { provider: "OpenAICompatible" as const, member: "max_tokens" },
  ]) {
    it(`sends the affordable cap to ${row.provider} as ${row.member}`, () =>
      assert.equal(
        editedBody(format, `{"model":"p",${text}}`, { provider: row.provider }, { outputCap: 77 }),
        `{"model":"upstream",${text},"${row.member}":77}`,
      ));
  }

  const set = (field: string, value: unknown) => ({ set: [{ field, value }] });
  const fill = (field: string, value: unknown) => ({ default: [{ field, value }] });
  for (const row of [
    { name: "keeps a smaller one that a rule sets", rules: set("max_tokens", 64), want: '"max_tokens":64' },
    { name: "keeps a smaller default", rules: fill("max_tokens", 64), want: '"max_tokens":64' },
    { name: "lessens a greater one where it stands", rules: set("max_tokens", 5_000), want: '"max_tokens":77' },
    { name: "replaces what caps nothing", rules: set("max_tokens", "no end"), want: '"max_tokens":77' },
    {
      name: "lessens each of two",
      rules: {
        set: [
          { field: "max_tokens", value: 5_000 },
          { field: "max_completion_tokens", value: 9 },
        ],
      },
      want: '"max_tokens":77,"max_completion_tokens":9',
    },
  ]) {
    it(`the affordable cap ${row.name}, whatever name the provider has for it`, () => {
      for (const provider of ["OpenAI", "OpenAICompatible"] as const) {
        const edited = editedBody(format, `{"model":"p",${text}}`, { provider, body: row.rules }, { outputCap: 77 });
        assert.equal(edited, `{"model":"upstream",${text},${row.want}}`);
      }
    });
  }
});
