/**
 * A route's `parameters` and what providers do not know, in calls of every format to channels of every format: what is
 * left out is told to the client by its own name and counted, what is refused is named so too.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { useCapture } from "#test/support/conformance/capture";
import { type ChatCallForm, callForms } from "#test/support/conformance/chat-calls";
import { channelManifest, keyManifest, routeManifest } from "#test/support/conformance/manifests";
import { at } from "#test/support/digest/facts";

const formats: readonly ChatWireFormat[] = ["ChatCompletions", "Responses", "Messages", "GenerateContent"];
const formOf = (format: ChatWireFormat): ChatCallForm =>
  callForms.find((form) => form.format === format) ?? assert.fail(format);

const parameters = [
  { name: "top_p", support: "Unsupported" },
  { name: "generationConfig.topK", support: "Unsupported" },
  { name: "generationConfig.temperature", maximum: "0.5" },
  { name: "thinking.budget_tokens", maximum: "2000" },
];

/** How a client of each format says one value of each parameter. */
const said: Readonly<Record<ChatWireFormat, (name: "topP" | "topK" | "temperature", value: number) => object>> = {
  ChatCompletions: (name, value) => ({ [snake(name)]: value }),
  Responses: (name, value) => ({ [snake(name)]: value }),
  Messages: (name, value) => ({ [snake(name)]: value }),
  GenerateContent: (name, value) => ({ generationConfig: { [name]: value } }),
};

function snake(name: string): string {
  return name.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`);
}

function paramOf(format: ChatWireFormat, name: string): string {
  return format === "GenerateContent" ? `generationConfig.${name}` : snake(name);
}

describe("a route's parameters in every format", () => {
  const capture = useCapture((origin) => [
    keyManifest("main"),
    ...formats.flatMap((format) =>
      (["Ignore", "Reject"] as const).flatMap((unsupportedParameters) => {
        const name = `${format}-${unsupportedParameters}`.toLowerCase();
        return [
          channelManifest(name, origin, { formats: [{ type: format }], unsupportedParameters }),
          routeManifest(name, { parameters }),
        ];
      }),
    ),
  ]);

  for (const client of formats) {
    const form = formOf(client);
    for (const upstream of formats) {
      const where = `of a ${client} client at a ${upstream} channel`;
      it(`top_p ${where} is left out, declared and counted`, async () => {
        const model = `${upstream}-ignore`.toLowerCase();
        const before = await capture().gateway.metric("tollgate_dropped_parameters_total", { format: client });
        const { answer, received } = await capture().send({ form, model, body: said[client]("topP", 0.9) });
        assert.equal(answer.status, 200, answer.body.toString());
        assert.equal(/top_?p/i.test(received?.body.toString() ?? ""), false);
        assert.equal(answer.header("x-tollgate-dropped"), paramOf(client, "topP"));
        const after = await capture().gateway.metric("tollgate_dropped_parameters_total", { format: client });
        assert.equal(after, before + 1);
      });

      it(`top_k ${where} is refused by its own name where the channel rejects`, async () => {
        const model = `${upstream}-reject`.toLowerCase();
        const { answer, received } = await capture().send({ form, model, body: said[client]("topK", 5) });
        assert.equal(answer.status, 400, answer.body.toString());
        assert.match(String(at(answer.json(), "error", "message")), new RegExp(`'${paramOf(client, "topK")}'`));
        assert.equal(received, undefined);
      });

      it(`a temperature ${where} is held against the route's range`, async () => {
        const model = `${upstream}-ignore`.toLowerCase();
        for (const [value, status] of [
          [0.5, 200],
          [0.6, 400],
        ] as const) {
          const { answer } = await capture().send({ form, model, body: said[client]("temperature", value) });
          assert.equal(answer.status, status, answer.body.toString());
        }
      });
    }
  }

  for (const upstream of formats) {
    it(`a budget of thinking over the route's is refused before a ${upstream} channel`, async () => {
      const thinking = { type: "enabled", budget_tokens: 9_000 };
      const { answer, received } = await capture().send({
        form: formOf("Messages"),
        model: `${upstream}-ignore`.toLowerCase(),
        body: { max_tokens: 10_000, thinking },
      });
      assert.equal(answer.status, 400);
      assert.match(String(at(answer.json(), "error", "message")), /'thinking\.budget_tokens'|^thinking\.budget_tokens/);
      assert.equal(received, undefined);
    });
  }
});

describe("what a provider does not know", () => {
  const credentials = [{ name: "main", secretKeyRef: { name: "upstream", key: "apiKey" } }];
  const capture = useCapture((origin) => [
    keyManifest("main"),
    ...(["Ignore", "Reject"] as const).flatMap((unsupportedParameters) => {
      const name = `gemini-${unsupportedParameters}`.toLowerCase();
      const formats = [{ type: "ChatCompletions" }];
      const spec = { provider: "Gemini", formats, unsupportedParameters, credentials };
      return [channelManifest(name, origin, spec), routeManifest(name)];
    }),
  ]);

  for (const { client, body, param } of [
    { client: "ChatCompletions", body: { service_tier: "flex" }, param: "service_tier" },
    { client: "Responses", body: { service_tier: "flex" }, param: "service_tier" },
    { client: "GenerateContent", body: { serviceTier: "flex" }, param: "serviceTier" },
  ] as const) {
    it(`${param} of a ${client} client is left out and declared`, async () => {
      const call = { form: formOf(client), body };
      const { answer, received } = await capture().send({ ...call, model: "gemini-ignore" });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(received?.body.includes("flex"), false);
      assert.equal(answer.header("x-tollgate-dropped"), param);
    });

    it(`${param} of a ${client} client is refused by its own name where the channel rejects`, async () => {
      const { answer, received } = await capture().send({ form: formOf(client), body, model: "gemini-reject" });
      assert.equal(answer.status, 400);
      assert.match(String(at(answer.json(), "error", "message")), new RegExp(`'${param}'`));
      assert.equal(received, undefined);
    });
  }

  it("is nothing to declare where a stream and a whole answer ask for nothing of it", async () => {
    for (const stream of [false, true]) {
      const { answer } = await capture().send({ form: formOf("ChatCompletions"), model: "gemini-reject", stream });
      assert.equal(answer.status, 200);
      assert.equal(answer.header("x-tollgate-dropped"), undefined);
    }
  });

  it("is declared in a stream as well", async () => {
    const { answer } = await capture().send({
      form: formOf("ChatCompletions"),
      model: "gemini-ignore",
      stream: true,
      body: { logit_bias: { "5": 1 } },
    });
    assert.equal(answer.status, 200);
    assert.equal(answer.header("x-tollgate-dropped"), "logit_bias");
  });
});
