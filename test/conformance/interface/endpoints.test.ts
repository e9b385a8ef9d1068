/** docs/design/interface.md 1 and 4: the endpoints, their base addresses, and what may be sent to which. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useCapture } from "#test/support/conformance/capture";
import { type ChatCallForm, callForms } from "#test/support/conformance/chat-calls";
import { type HttpAnswer, httpCall } from "#test/support/conformance/http-call";
import { channelManifest, keyManifest, routeManifest } from "#test/support/conformance/manifests";
import { at, list } from "#test/support/digest/facts";

type Format = ChatCallForm["format"];

const shapes: Readonly<Record<Format, string>> = {
  ChatCompletions: "A",
  Responses: "A",
  Messages: "B",
  GenerateContent: "C",
};

/** What a refusal of a body at the wrong address must name. */
const addresses: Readonly<Record<Format, RegExp>> = {
  ChatCompletions: /\{base_url\}\/chat\/completions/,
  Responses: /\{base_url\}\/responses/,
  Messages: /\{base_url_b\}\/v1\/messages/,
  GenerateContent: /\{base_url_c\}\/models\/\{model\}:generateContent/,
};

/** Members that only this format's bodies have. */
const telling: Readonly<Record<Format, object>> = {
  ChatCompletions: { max_completion_tokens: 5 },
  Responses: {},
  Messages: { system: "be brief" },
  GenerateContent: {},
};

const user = [{ role: "user", content: "hi" }];
const missing: Readonly<Record<Format, Readonly<Record<string, object>>>> = {
  ChatCompletions: { model: { messages: user }, messages: { model: "demo" } },
  Responses: { model: { input: "hi" }, input: { model: "demo" } },
  Messages: {
    model: { max_tokens: 1, messages: user },
    messages: { model: "demo", max_tokens: 1 },
    max_tokens: { model: "demo", messages: user },
  },
  GenerateContent: { contents: { generationConfig: {} } },
};

/** The shape an error has, told from its body. */
function shapeOf(answer: HttpAnswer): string {
  const body = answer.json();
  if (at(body, "type") === "error") return "B";
  if (typeof at(body, "error", "code") === "number") return "C";
  return typeof at(body, "error", "type") === "string" ? "A" : "none";
}

describe("docs/design/interface.md 4: endpoints", () => {
  const capture = useCapture((origin) => [
    keyManifest("main"),
    channelManifest("demo", origin),
    routeManifest("demo"),
    routeManifest("slashed", { model: "maker/demo:1", targets: [{ name: "main", channelRef: { name: "demo" } }] }),
  ]);
  const formOf = (format: Format): ChatCallForm =>
    callForms.find((form) => form.format === format) ?? assert.fail(format);

  const served: readonly { format: Format; path: string; stream?: boolean }[] = [
    { format: "ChatCompletions", path: "/v1/chat/completions" },
    { format: "ChatCompletions", path: "/chat/completions" },
    { format: "ChatCompletions", path: "/v1/v1/chat/completions" },
    { format: "ChatCompletions", path: "/v1/chat/completions?api-version=1" },
    { format: "Responses", path: "/v1/responses" },
    { format: "Responses", path: "/responses" },
    { format: "Messages", path: "/v1/messages" },
    { format: "Messages", path: "/v1/v1/messages" },
    { format: "Messages", path: "/v1/messages?beta=true" },
    ...["/v1beta", "/v1", "/v1alpha", "/v1beta/v1beta", "/v1beta/v1", "/v1/v1beta"].flatMap((base) => [
      { format: "GenerateContent" as const, path: `${base}/models/demo:generateContent` },
      { format: "GenerateContent" as const, path: `${base}/models/demo:streamGenerateContent?alt=sse`, stream: true },
      { format: "GenerateContent" as const, path: `${base}/models/demo:streamGenerateContent`, stream: true },
      { format: "GenerateContent" as const, path: `${base}/models/maker%2Fdemo:1:generateContent` },
      { format: "GenerateContent" as const, path: `${base}/models/maker/demo:1:generateContent` },
    ]),
  ];
  for (const { format, path, stream = false } of served) {
    it(`pitfall 143: POST ${path} is served`, async () => {
      const { answer, received } = await capture().send({ form: formOf(format), model: "demo", path, stream });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.ok(received !== undefined);
    });
  }

  for (const form of callForms) {
    it(`a minimal first call is enough for ${form.format}`, async () => {
      const minimal = {
        ChatCompletions: { model: "demo", messages: [{ role: "user", content: "hi" }] },
        Responses: { model: "demo", input: "hi" },
        Messages: { model: "demo", max_tokens: 1, messages: [{ role: "user", content: "hi" }] },
        GenerateContent: { contents: [{ parts: [{ text: "hi" }] }] },
      }[form.format];
      const { answer } = await capture().send({ form, model: "demo", body: JSON.stringify(minimal) });
      assert.equal(answer.status, 200, answer.body.toString());
    });

    for (const [name, body] of Object.entries(missing[form.format])) {
      it(`a call without ${name} is a parameter error of ${form.format}`, async () => {
        const { answer, received } = await capture().send({ form, model: "demo", body: JSON.stringify(body) });
        assert.equal(answer.status, 400);
        assert.match(String(at(answer.json(), "error", "message")), new RegExp(`'${name}'`));
        assert.equal(received, undefined);
      });
    }

    it(`a model that is not offered is 404 in the shape of ${form.format}`, async () => {
      const { answer, received } = await capture().send({ form, model: "not-offered" });
      assert.equal(answer.status, 404);
      assert.equal(received, undefined);
      assert.equal(shapeOf(answer), shapes[form.format]);
    });

    for (const other of callForms.filter((candidate) => candidate.format !== form.format)) {
      it(`a body of ${other.format} sent to ${form.format} is told its own address`, async () => {
        const body = JSON.stringify({ model: "demo", ...other.body("demo", false), ...telling[other.format] });
        const { answer, received } = await capture().send({ form, model: "demo", body });
        assert.equal(answer.status, 400);
        assert.equal(shapeOf(answer), shapes[form.format]);
        assert.match(String(at(answer.json(), "error", "message")), addresses[other.format]);
        assert.equal(received, undefined);
      });
    }
  }

  it("a chat completions body without anything of its own is told its address where messages are served", async () => {
    const body = JSON.stringify({ model: "demo", messages: user });
    const { answer } = await capture().send({ form: formOf("Messages"), model: "demo", body });
    assert.equal(answer.status, 400);
    assert.match(String(at(answer.json(), "error", "message")), addresses.ChatCompletions);
  });

  interface NotServed {
    readonly method: string;
    readonly path: string;
    readonly status: number;
    readonly shape: string;
    readonly allow?: string;
  }
  const notServed: readonly NotServed[] = [
    { method: "GET", path: "/v1/chat/completions", status: 405, shape: "A", allow: "POST" },
    { method: "DELETE", path: "/v1/responses", status: 405, shape: "A", allow: "POST" },
    { method: "GET", path: "/v1/messages", status: 405, shape: "B", allow: "POST" },
    { method: "GET", path: "/v1beta/models/demo:generateContent", status: 405, shape: "C", allow: "POST" },
    { method: "POST", path: "/v1/models", status: 405, shape: "A", allow: "GET" },
    { method: "POST", path: "/v1beta/models", status: 405, shape: "C", allow: "GET" },
    { method: "GET", path: "/v1/images/generations", status: 405, shape: "A", allow: "POST" },
    { method: "POST", path: "/v1/images/edit", status: 404, shape: "A" },
    { method: "GET", path: "/v1/embeddings", status: 405, shape: "A", allow: "POST" },
    { method: "GET", path: "/v1beta/models/demo:batchEmbedContents", status: 405, shape: "C", allow: "POST" },
    { method: "GET", path: "/v1/messages/count_tokens", status: 405, shape: "B", allow: "POST" },
    { method: "GET", path: "/v1beta/models/demo:countTokens", status: 405, shape: "C", allow: "POST" },
    { method: "POST", path: "/v1beta/models/demo:asyncBatchEmbedContent", status: 404, shape: "C" },
    { method: "POST", path: "/v1/responses/resp_1/cancel", status: 404, shape: "A" },
    { method: "POST", path: "/messages", status: 404, shape: "A" },
    { method: "POST", path: "/V1/chat/completions", status: 404, shape: "A" },
    { method: "POST", path: "/v1/chat/completions/", status: 404, shape: "A" },
    { method: "GET", path: "/", status: 404, shape: "A" },
    { method: "GET", path: "/metrics", status: 404, shape: "A" },
    { method: "GET", path: "/debug/config", status: 404, shape: "A" },
    { method: "GET", path: "/healthz", status: 404, shape: "A" },
  ];
  for (const { method, path, status, shape, allow } of notServed) {
    it(`${method} ${path} is ${status} in the shape of its path`, async () => {
      const body = method === "POST" ? "{}" : undefined;
      const { origin } = capture().gateway;
      const answer = await httpCall({ origin, method, path, ...(body === undefined ? {} : { body }) });
      assert.equal(answer.status, status);
      assert.equal(shapeOf(answer), shape);
      assert.equal(answer.header("allow"), allow);
    });
  }

  describe("model lists", () => {
    const names = ["demo", "maker/demo:1"];
    const read = {
      A: (body: unknown) => list(at(body, "data")).map((model) => at(model, "id")),
      B: (body: unknown) => list(at(body, "data")).map((model) => at(model, "id")),
      C: (body: unknown) => list(at(body, "models")).map((model) => String(at(model, "name")).replace("models/", "")),
    };
    const asked = [
      { shape: "A", form: "ChatCompletions", paths: ["/v1/models", "/models", "/v1/v1/models"] },
      { shape: "B", form: "Messages", paths: ["/v1/models", "/v1/v1/models", "/v1/models?limit=50"] },
      { shape: "C", form: "GenerateContent", paths: ["/v1beta/models", "/v1/models", "/v1alpha/models?pageSize=9"] },
    ] as const;
    for (const { shape, form, paths } of asked) {
      for (const path of paths) {
        it(`GET ${path} lists in the shape of ${shape}`, async () => {
          const headers = formOf(form).headers("main");
          const answer = await httpCall({ origin: capture().gateway.origin, path, headers });
          assert.equal(answer.status, 200);
          assert.deepEqual(read[shape](answer.json()), names);
        });
      }
    }
    for (const { path, form, member, name } of [
      { path: "/v1/models/demo", form: "ChatCompletions", member: "id", name: "demo" },
      { path: "/models/maker/demo:1", form: "ChatCompletions", member: "id", name: "maker/demo:1" },
      { path: "/v1/models/maker%2Fdemo%3A1", form: "ChatCompletions", member: "id", name: "maker/demo:1" },
      { path: "/v1/models/maker/demo:1", form: "Messages", member: "id", name: "maker/demo:1" },
      { path: "/v1beta/models/maker/demo:1", form: "GenerateContent", member: "name", name: "models/maker/demo:1" },
    ] as const) {
      it(`GET ${path} shows one to a client of ${form}`, async () => {
        const headers = formOf(form).headers("main");
        const answer = await httpCall({ origin: capture().gateway.origin, path, headers });
        assert.equal(at(answer.json(), member), name);
      });
    }
  });
});
