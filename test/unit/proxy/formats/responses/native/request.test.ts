import assert from "node:assert/strict";
import { responsesUpstream as format } from "#proxy/formats/responses/native/upstream-format";
import { editedBody, readBody, refusalOf } from "#test/support/calls/read-body";

const usual = { model: "public", input: "hi" };

describe("responses: readCall", () => {
  for (const row of [
    { name: "accepts the least", body: usual, want: "accepted" },
    { name: "needs input", body: { model: "m" }, want: "missing_parameter input" },
    { name: "refuses input that is a number", body: { model: "m", input: 5 }, want: "invalid_type input" },
    { name: "refuses background", body: { ...usual, background: true }, want: "unsupported_parameter background" },
    { name: "accepts background off", body: { ...usual, background: false }, want: "accepted" },
    { name: "refuses top_logprobs over 20", body: { ...usual, top_logprobs: 21 }, want: "invalid_value top_logprobs" },
    { name: "refuses temperature over 2", body: { ...usual, temperature: 3 }, want: "invalid_value temperature" },
    {
      name: "refuses a fractional cap",
      body: { ...usual, max_output_tokens: 0.5 },
      want: "invalid_value max_output_tokens",
    },
    {
      name: "refuses truncation that is no text",
      body: { ...usual, truncation: true },
      want: "invalid_type truncation",
    },
    { name: "refuses a chat body", body: { model: "m", messages: [] }, want: "wrong_protocol messages" },
    { name: "refuses a contents-style body", body: { contents: [] }, want: "wrong_protocol contents" },
  ]) {
    it(row.name, () =>
      assert.equal(
        refusalOf(() => readBody(format, row.body)),
        row.want,
      ),
    );
  }

  for (const row of [
    { name: "previous_response_id", body: { previous_response_id: "resp_1" }, want: ["previous_response_id"] },
    { name: "a conversation", body: { conversation: { id: "c" } }, want: ["conversation"] },
    { name: "a stored prompt", body: { prompt: { id: "p" } }, want: ["prompt"] },
    { name: "an item reference", body: { input: [{ type: "item_reference", id: "a" }] }, want: ["input[0].id"] },
    { name: "an item reference without its type", body: { input: [{ id: "a" }] }, want: ["input[0].id"] },
    {
      name: "no id of a replayed item",
      body: {
        input: [
          { type: "reasoning", id: "rs_1", summary: [] },
          { role: "user", id: "msg_1", content: "x" },
        ],
      },
      want: [],
    },
    {
      name: "an image file",
      body: { input: [{ role: "user", content: [{ type: "input_image", file_id: "f" }] }] },
      want: ["input[0].content[0].file_id"],
    },
    {
      name: "a file of a lone item",
      body: { input: { role: "user", content: [{ type: "input_file", file_id: "f" }] } },
      want: ["input.content[0].file_id"],
    },
    {
      name: "vector stores",
      body: { tools: [{ type: "file_search", vector_store_ids: ["v"] }] },
      want: ["tools[0].vector_store_ids"],
    },
    {
      name: "a container",
      body: { tools: [{ type: "code_interpreter", container: "c" }] },
      want: ["tools[0].container"],
    },
    {
      name: "no fresh container",
      body: { tools: [{ type: "code_interpreter", container: { type: "auto" } }] },
      want: [],
    },
    {
      name: "files of a fresh container",
      body: { tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: ["f"] } }] },
      want: ["tools[0].container.file_ids"],
    },
  ]) {
    it(`finds ${row.name} among references to upstream objects`, () =>
      assert.deepEqual(readBody(format, { ...usual, ...row.body }).upstreamObjects, row.want));
  }

  // What may stand alone or in a list refers to the same object in both spellings (docs/design/interface.md 2.1, 2.4).
  const image = { type: "image_generation_call", id: "ig_1" };
  const lone: readonly { name: string; list: "tools" | "input"; item: object; path: string | undefined }[] = [
    { name: "vector stores", list: "tools", item: { vector_store_ids: ["v"] }, path: "vector_store_ids" },
    { name: "a container", list: "tools", item: { container: "c" }, path: "container" },
    { name: "its files", list: "tools", item: { container: { file_ids: ["f"] } }, path: "container.file_ids" },
    { name: "a connector", list: "tools", item: { connector_id: "connector_a" }, path: "connector_id" },
    { name: "a tunnel", list: "tools", item: { tunnel_id: "t" }, path: "tunnel_id" },
    { name: "a mask", list: "tools", item: { input_image_mask: { file_id: "f" } }, path: "input_image_mask.file_id" },
    { name: "a shell", list: "tools", item: { environment: { container_id: "c" } }, path: "environment.container_id" },
    {
      name: "a shell's files",
      list: "tools",
      item: { environment: { file_ids: ["f"] } },
      path: "environment.file_ids",
    },
    {
      name: "a skill",
      list: "tools",
      item: { environment: { skills: [{ type: "skill_reference", skill_id: "s" }] } },
      path: "environment.skills[0].skill_id",
    },
    { name: "no fresh container", list: "tools", item: { container: { type: "auto" } }, path: undefined },
    {
      name: "no property of a schema",
      list: "tools",
      item: { type: "function", name: "f", parameters: { properties: { connector_id: "string", container: "x" } } },
      path: undefined,
    },
    { name: "an item", list: "input", item: { type: "item_reference", id: "a" }, path: "id" },
    { name: "an item of type null", list: "input", item: { type: null, id: "a" }, path: "id" },
    { name: "an item of role null", list: "input", item: { id: "a", role: null }, path: "id" },
    { name: "an item of neither", list: "input", item: { type: null, role: null, id: "a" }, path: "id" },
    { name: "no message of type null", list: "input", item: { type: null, role: "user", id: "a" }, path: undefined },
    { name: "no message of role null", list: "input", item: { type: "message", role: null, id: "a" }, path: undefined },
    { name: "a picture made earlier", list: "input", item: image, path: "id" },
    { name: "an empty picture", list: "input", item: { ...image, result: null }, path: "id" },
    { name: "no picture that comes with itself", list: "input", item: { ...image, result: "AAAA" }, path: undefined },
    {
      name: "a file",
      list: "input",
      item: { role: "user", content: [{ type: "input_file", file_id: "f" }] },
      path: "content[0].file_id",
    },
    {
      name: "a file that is all the content",
      list: "input",
      item: { role: "user", content: { type: "input_file", file_id: "f" } },
      path: "content.file_id",
    },
    { name: "a screenshot", list: "input", item: { type: "x", output: { file_id: "f" } }, path: "output.file_id" },
    {
      name: "the container of a call",
      list: "input",
      item: { type: "shell_call", environment: { container_id: "c" } },
      path: "environment.container_id",
    },
    {
      name: "tools that an item adds",
      list: "input",
      item: { type: "additional_tools", tools: [{ type: "mcp", connector_id: "c" }] },
      path: "tools[0].connector_id",
    },
  ];
  for (const { name, list, item, path } of lone) {
    for (const [where, value] of [
      [`${list}[0]`, [item]],
      [list, item],
    ] as const) {
      it(`finds ${name} at ${where}`, () =>
        assert.deepEqual(
          readBody(format, { ...usual, [list]: value }).upstreamObjects,
          path === undefined ? [] : [`${where}.${path}`],
        ));
    }
  }

  it("finds a reference whose name is spelled with escapes, in a lone tool", () =>
    assert.deepEqual(
      readBody(format, '{"model":"m","input":"x","tools":{"type":"mcp","connector\\u005fid":"c"}}').upstreamObjects,
      ["tools.connector_id"],
    ));
});

describe("responses: editBody", () => {
  for (const row of [
    {
      name: "replaces the model only",
      body: '{"model":"p","input":"hi","top_p":0.50}',
      want: '{"model":"upstream","input":"hi","top_p":0.50}',
    },
    {
      name: "asks for no stream_options",
      body: '{"model":"p","input":"hi","stream":true}',
      want: '{"model":"upstream","input":"hi","stream":true}',
    },
    {
      name: "wraps a single tool",
      body: '{"model":"p","input":"hi","tools":{"type":"web_search"}}',
      want: '{"model":"upstream","input":"hi","tools":[{"type":"web_search"}]}',
    },
    {
      name: "wraps a single item",
      body: '{"model":"p","input":{"role":"user","content":"x"}}',
      want: '{"model":"upstream","input":[{"role":"user","content":"x"}]}',
    },
    {
      name: "strips by the privacy table",
      body: '{"model":"p","safety_identifier":"s","input":"hi","stream_options":{"include_obfuscation":true}}',
      want: '{"model":"upstream","input":"hi"}',
    },
  ]) {
    it(row.name, () => assert.equal(editedBody(format, row.body), row.want));
  }

  it("sends the affordable cap", () =>
    assert.equal(
      editedBody(format, '{"model":"p","input":"hi"}', {}, { outputCap: 5 }),
      '{"model":"upstream","input":"hi","max_output_tokens":5}',
    ));

  for (const { value, want } of [
    { value: 3, want: 3 },
    { value: 64, want: 5 },
  ]) {
    it(`sends ${want} where a rule sets ${value} and 5 are affordable`, () => {
      const body = { set: [{ field: "max_output_tokens", value }] };
      const edited = JSON.parse(editedBody(format, '{"model":"p","input":"hi"}', { body }, { outputCap: 5 }));
      assert.equal(edited.max_output_tokens, want);
    });
  }
});
