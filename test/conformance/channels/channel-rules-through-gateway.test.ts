/**
 * What a channel and a target decide of a request, through the gateway: fields that the provider does not know,
 * references to objects of the upstream account, body rules and their order.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type Capture, useCapture } from "#test/support/conformance/capture";
import { type ChatCallForm, callForms } from "#test/support/conformance/chat-calls";
import { channelManifest, keyManifest, routeManifest } from "#test/support/conformance/manifests";
import { at } from "#test/support/digest/facts";

type Format = ChatCallForm["format"];

function formOf(format: Format): ChatCallForm {
  return callForms.find((form) => form.format === format) ?? assert.fail(format);
}

/** The field at fault, wherever the protocol's error body names it. */
function faultOf(form: ChatCallForm, body: unknown): unknown {
  if (form.protocol === "anthropic-messages") return String(at(body, "error", "message")).split(":")[0];
  if (form.protocol === "gemini") return at(body, "error", "details", 0, "fieldViolations", 0, "field");
  return at(body, "error", "param");
}

async function assertRefused(capture: Capture, form: ChatCallForm, model: string, body: object, param: string) {
  const { answer, received } = await capture.send({ form, model, body });
  assert.equal(answer.status, 400, answer.body.toString());
  assert.equal(faultOf(form, answer.json()), param);
  assert.equal(received, undefined, "nothing is sent upstream");
}

describe("fields that a provider does not know", () => {
  const providers = ["OpenAI", "Anthropic", "Gemini"] as const;
  const credentials = [{ name: "main", secretKeyRef: { name: "upstream", key: "apiKey" } }];
  const capture = useCapture((origin) => [
    keyManifest("main"),
    ...providers.flatMap((provider) =>
      ["Ignore", "Reject"].flatMap((unsupportedParameters) => {
        const name = `${provider}-${unsupportedParameters}`.toLowerCase();
        const formats = undefined;
        return [
          channelManifest(name, origin, { provider, unsupportedParameters, formats, credentials }),
          routeManifest(name),
        ];
      }),
    ),
    channelManifest("compatible", origin, { unsupportedParameters: "Reject" }),
    routeManifest("compatible"),
  ]);

  const rows: readonly { format: Format; provider: string; field: string; value: unknown }[] = [
    { format: "ChatCompletions", provider: "openai", field: "top_k", value: 5 },
    { format: "ChatCompletions", provider: "openai", field: "repetition_penalty", value: 1.1 },
    { format: "ChatCompletions", provider: "openai", field: "enable_thinking", value: true },
    { format: "Responses", provider: "openai", field: "top_k", value: 5 },
    { format: "Responses", provider: "openai", field: "stop", value: ["x"] },
    { format: "Messages", provider: "anthropic", field: "n", value: 1 },
    { format: "Messages", provider: "anthropic", field: "seed", value: 7 },
    { format: "Messages", provider: "anthropic", field: "frequency_penalty", value: 1 },
    { format: "GenerateContent", provider: "gemini", field: "metadata", value: { a: "b" } },
    { format: "GenerateContent", provider: "gemini", field: "n", value: 1 },
  ];
  for (const { format, provider, field, value } of rows) {
    const form = formOf(format);
    it(`Ignore leaves ${field} out of a ${format} call to ${provider}, and nothing else`, async () => {
      const model = `${provider}-ignore`;
      const plain = await capture().forwarded({ form, model });
      const body = await capture().forwarded({ form, model, body: { [field]: value } });
      assert.deepEqual(body, plain);
    });
    it(`Reject refuses ${field} in a ${format} call to ${provider} and names it`, () =>
      assertRefused(capture(), form, `${provider}-reject`, { [field]: value }, field));
    it(`null is no ${field}, in a ${format} call to ${provider}`, async () => {
      const { answer } = await capture().send({ form, model: `${provider}-reject`, body: { [field]: null } });
      assert.equal(answer.status, 200);
    });
    it(`a compatible server gets ${field} in a ${format} call`, async () => {
      const body = await capture().forwarded({ form, model: "compatible", body: { [field]: value } });
      assert.deepEqual(body[field], value);
    });
  }
});

describe("references to objects of the upstream account", () => {
  const capture = useCapture((origin) => [
    keyManifest("main"),
    channelManifest("refuse", origin),
    routeManifest("refuse"),
    channelManifest("shared", origin, { upstreamObjects: "Shared" }),
    routeManifest("shared"),
  ]);
  const user = (content: readonly object[]) => ({ messages: [{ role: "user", content }] });
  const item = (content: readonly object[]) => ({ input: [{ role: "user", content }] });
  const parts = (...given: readonly object[]) => ({ contents: [{ role: "user", parts: given }] });

  const rows: readonly { format: Format; body: object; param: string }[] = [
    {
      format: "ChatCompletions",
      body: user([{ type: "file", file: { file_id: "file-1" } }]),
      param: "messages[0].content[0].file.file_id",
    },
    {
      format: "ChatCompletions",
      body: {
        messages: [
          { role: "user", content: "hi" },
          { role: "assistant", audio: { id: "audio_1" } },
          { role: "user", content: "go on" },
        ],
      },
      param: "messages[1].audio",
    },
    { format: "Responses", body: { previous_response_id: "resp_1" }, param: "previous_response_id" },
    { format: "Responses", body: { conversation: "conv_1" }, param: "conversation" },
    { format: "Responses", body: { conversation: { id: "conv_1" } }, param: "conversation" },
    { format: "Responses", body: { prompt: { id: "pmpt_1" } }, param: "prompt" },
    {
      format: "Responses",
      body: item([{ type: "input_file", file_id: "file-1" }]),
      param: "input[0].content[0].file_id",
    },
    {
      format: "Responses",
      body: item([{ type: "input_image", file_id: "file-1" }]),
      param: "input[0].content[0].file_id",
    },
    { format: "Responses", body: { input: [{ type: "item_reference", id: "msg_1" }] }, param: "input[0].id" },
    { format: "Responses", body: { input: [{ id: "msg_1" }] }, param: "input[0].id" },
    { format: "Responses", body: { input: [{ type: null, id: "msg_1" }] }, param: "input[0].id" },
    { format: "Responses", body: { input: [{ id: "msg_1", role: null }] }, param: "input[0].id" },
    { format: "Responses", body: { input: [{ type: null, id: "msg_1", role: null }] }, param: "input[0].id" },
    {
      format: "Responses",
      body: { tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] },
      param: "tools[0].vector_store_ids",
    },
    {
      format: "Responses",
      body: { tools: [{ type: "code_interpreter", container: "cntr_1" }] },
      param: "tools[0].container",
    },
    {
      format: "Responses",
      body: { tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: ["file-1"] } }] },
      param: "tools[0].container.file_ids",
    },
    { format: "Responses", body: { input: [{ type: "image_generation_call", id: "ig_1" }] }, param: "input[0].id" },
    {
      format: "Messages",
      body: user([{ type: "document", source: { type: "file", file_id: "file_1" } }]),
      param: "messages.0.content.0.source.file_id",
    },
    {
      format: "Messages",
      body: user([{ type: "container_upload", file_id: "file_1" }]),
      param: "messages.0.content.0.file_id",
    },
    { format: "Messages", body: { container: "container_1" }, param: "container" },
    { format: "GenerateContent", body: { cachedContent: "cachedContents/1" }, param: "cachedContent" },
    { format: "GenerateContent", body: { cached_content: "cachedContents/1" }, param: "cached_content" },
    {
      format: "GenerateContent",
      body: parts({ fileData: { fileUri: "https://generativelanguage.googleapis.com/v1beta/files/abc" } }),
      param: "contents[0].parts[0].fileData.fileUri",
    },
    {
      format: "GenerateContent",
      body: parts({ file_data: { file_uri: "files/abc" } }),
      param: "contents[0].parts[0].file_data.file_uri",
    },
    {
      format: "GenerateContent",
      body: parts({ fileData: { fileUri: "gs://bucket/object" } }),
      param: "contents[0].parts[0].fileData.fileUri",
    },
    {
      format: "GenerateContent",
      body: { tools: [{ fileSearch: { fileSearchStoreNames: ["fileSearchStores/1"] } }] },
      param: "tools[0].fileSearch.fileSearchStoreNames",
    },
  ];
  for (const { format, body, param } of rows) {
    const form = formOf(format);
    it(`${format}: ${param} is refused by default and named`, () =>
      assertRefused(capture(), form, "refuse", body, param));
    it(`${format}: ${param} passes where the channel shares`, async () => {
      const sent = { ...form.body("shared", false), ...body };
      const { answer, received } = await capture().send({ form, model: "shared", body });
      assert.equal(answer.status, 200, answer.body.toString());
      const arrived = Object(received?.json());
      for (const [member, value] of Object.entries(sent))
        if (member !== "cached_content") assert.deepEqual(arrived[member], value, member);
    });
  }

  const lone: readonly { format: Format; body: object; param: string }[] = [
    { format: "Responses", body: { tools: { type: "mcp", connector_id: "c" } }, param: "tools.connector_id" },
    { format: "Responses", body: { input: { type: "image_generation_call", id: "ig_1" } }, param: "input.id" },
    { format: "Responses", body: { input: { type: null, id: "msg_1" } }, param: "input.id" },
    {
      format: "Responses",
      body: { tools: { type: "code_interpreter", container: "cntr_1" } },
      param: "tools.container",
    },
    {
      format: "ChatCompletions",
      body: { tools: { type: "file_search", vector_store_ids: ["vs_1"] } },
      param: "tools.vector_store_ids",
    },
    {
      format: "GenerateContent",
      body: { tools: { fileSearch: { fileSearchStoreNames: ["fileSearchStores/1"] } } },
      param: "tools.fileSearch.fileSearchStoreNames",
    },
  ];
  for (const { format, body, param } of lone) {
    const form = formOf(format);
    it(`${format}: ${param} is refused where the one object stands without its list`, () =>
      assertRefused(capture(), form, "refuse", body, param));
    it(`${format}: ${param} passes without its list where the channel shares`, async () => {
      const { answer } = await capture().send({ form, model: "shared", body });
      assert.equal(answer.status, 200, answer.body.toString());
    });
  }

  const open: readonly { name: string; format: Format; body: object }[] = [
    {
      name: "a picture by its address",
      format: "ChatCompletions",
      body: user([{ type: "image_url", image_url: { url: "https://example.com/a.png" } }]),
    },
    {
      name: "a public video",
      format: "GenerateContent",
      body: parts({ fileData: { fileUri: "https://www.youtube.com/watch?v=1" } }),
    },
    {
      name: "an id inside a tool's arguments",
      format: "GenerateContent",
      body: {
        contents: [
          { role: "user", parts: [{ text: "hi" }] },
          { role: "model", parts: [{ functionCall: { name: "f", args: { fileData: { fileUri: "files/abc" } } } }] },
        ],
      },
    },
    {
      name: "a replayed item with its id",
      format: "Responses",
      body: { input: [{ type: "message", id: "msg_1", role: "assistant", content: [] }] },
    },
    {
      name: "a container of the call's own",
      format: "Responses",
      body: { tools: [{ type: "code_interpreter", container: { type: "auto" } }] },
    },
  ];
  for (const { name, format, body } of open) {
    it(`${name} is no such reference (${format})`, async () => {
      const { answer } = await capture().send({ form: formOf(format), model: "refuse", body });
      assert.equal(answer.status, 200, answer.body.toString());
    });
  }
});

describe("body rules of channels and targets", () => {
  const target = (rules: object) => ({
    targets: [{ name: "main", channelRef: { name: "rules" }, upstreamModel: "upstream-model", parameters: rules }],
  });
  const field = (name: string, value: unknown) => ({ field: name, value });
  const capture = useCapture((origin) => [
    keyManifest("main"),
    channelManifest("rules", origin, {
      body: {
        default: [field("x_default", { a: [1] }), field("x_gone_and_filled", "filled")],
        set: [field("x_set", "channel"), field("x_gone_and_set", 1.5), field("x_both", "channel")],
        remove: ["x_gone", "x_gone_and_set", "x_gone_and_filled"],
      },
    }),
    routeManifest("rules", target({})),
    routeManifest("targeted", {
      model: "targeted",
      ...target({ set: [field("x_both", "target")], remove: ["x_set"], default: [field("x_default", "never")] }),
    }),
  ]);

  for (const form of callForms) {
    it(`default fills what is absent or null, set wins, remove comes first, in ${form.format}`, async () => {
      const sent = { x_set: "client", x_gone: 1, x_gone_and_set: 1, x_gone_and_filled: "client", x_kept: 1 };
      for (const filled of [{}, { x_default: null }]) {
        const body = await capture().forwarded({ form, model: "rules", body: { ...sent, ...filled } });
        assert.deepEqual(Object.fromEntries(Object.entries(body).filter(([name]) => name.startsWith("x_"))), {
          x_default: { a: [1] },
          x_gone_and_filled: "filled",
          x_set: "channel",
          x_gone_and_set: 1.5,
          x_both: "channel",
          x_kept: 1,
        });
      }
      const own = await capture().forwarded({ form, model: "rules", body: { x_default: "client" } });
      assert.equal(own["x_default"], "client");
    });

    it(`a target's rules come after its channel's, in ${form.format}`, async () => {
      const body = await capture().forwarded({ form, model: "targeted", body: { x_set: "client" } });
      assert.equal(body["x_both"], "target");
      assert.equal("x_set" in body, false);
      assert.deepEqual(body["x_default"], { a: [1] });
    });

    it(`the upstream's name for the model goes where ${form.format} keeps it`, async () => {
      const { received } = await capture().send({ form, model: "targeted" });
      const body = Object(received?.json());
      if (form.format === "GenerateContent") {
        assert.equal("model" in body, false);
        assert.equal(received?.target, "/v1/models/upstream-model:generateContent");
      } else assert.equal(body["model"], "upstream-model");
      assert.equal(received?.body.includes("targeted"), false);
    });
  }
});
