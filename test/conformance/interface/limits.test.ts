/**
 * docs/design/interface.md 2 and 8: the bounds and types of parameters at their edges, in every format and spelling;
 * then a route's narrower rules. A refusal names the field and nothing goes upstream.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type Capture, useCapture } from "#test/support/conformance/capture";
import { type ChatCallForm, callForms } from "#test/support/conformance/chat-calls";
import { channelManifest, keyManifest, routeManifest } from "#test/support/conformance/manifests";
import { at } from "#test/support/digest/facts";

type Format = ChatCallForm["format"];

interface Bounds {
  readonly format: Format;
  /** Path of the member: `generationConfig.topP`. */
  readonly field: string;
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
}

const notNumbers = ["1", true, [], {}];
const notIntegers = [1.5, "1", true];
const notBooleans = ["true", 1, {}];
const cap = { good: [0, 1, 2_147_483_647], bad: [-1, 2_147_483_648, ...notIntegers] };
const zeroToOne = { good: [0, 0.5, 1], bad: [-0.01, 1.01, ...notNumbers] };
const zeroToTwo = { good: [0, 1, 2], bad: [-0.01, 2.01, ...notNumbers] };
const penalty = { good: [-2, 0, 2], bad: [-2.01, 2.01, ...notNumbers] };

function both(format: Format, camel: string, bounds: Omit<Bounds, "format" | "field">): Bounds[] {
  const snake = camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const fields = new Set([
    `generationConfig.${camel}`,
    `generationConfig.${snake}`,
    `generation_config.${snake}`,
    snake,
    camel,
  ]);
  return [...fields].map((field) => ({ format, field, ...bounds }));
}

const rows: readonly Bounds[] = [
  { format: "ChatCompletions", field: "temperature", ...zeroToTwo },
  { format: "ChatCompletions", field: "top_p", ...zeroToOne },
  { format: "ChatCompletions", field: "top_k", good: [1, 40, -1], bad: notNumbers },
  { format: "ChatCompletions", field: "max_tokens", ...cap },
  { format: "ChatCompletions", field: "max_completion_tokens", ...cap },
  { format: "ChatCompletions", field: "n", good: [1, 128], bad: [0, 129, -1, ...notIntegers] },
  { format: "ChatCompletions", field: "seed", good: [1, -1, 1.5], bad: ["1", true] },
  { format: "ChatCompletions", field: "stop", good: ["x", ["x", "y"]], bad: [1, {}] },
  { format: "ChatCompletions", field: "frequency_penalty", ...penalty },
  { format: "ChatCompletions", field: "presence_penalty", ...penalty },
  { format: "ChatCompletions", field: "logprobs", good: [true, false], bad: notBooleans },
  { format: "ChatCompletions", field: "top_logprobs", good: [0, 20], bad: [-1, 21, ...notIntegers] },
  { format: "ChatCompletions", field: "logit_bias", good: [{ "50256": -100 }], bad: [[], "x"] },
  { format: "ChatCompletions", field: "response_format", good: [{ type: "json_object" }], bad: ["json_object"] },
  { format: "ChatCompletions", field: "tools", good: [[]], bad: ["x", 1] },
  { format: "ChatCompletions", field: "tool_choice", good: ["auto", "none", {}], bad: [1, []] },
  { format: "ChatCompletions", field: "parallel_tool_calls", good: [true, false], bad: notBooleans },
  { format: "ChatCompletions", field: "modalities", good: [["text"]], bad: ["text"] },
  { format: "ChatCompletions", field: "audio", good: [{ voice: "a", format: "wav" }], bad: ["wav", []] },
  { format: "ChatCompletions", field: "stream", good: [false], bad: notBooleans },
  { format: "ChatCompletions", field: "metadata", good: [{ a: "b" }], bad: ["x", []] },
  { format: "ChatCompletions", field: "user", good: ["u", { id: "u" }], bad: [1, []] },
  { format: "ChatCompletions", field: "store", good: [true, false], bad: notBooleans },
  { format: "ChatCompletions", field: "safety_identifier", good: ["u"], bad: [1, {}] },
  { format: "Responses", field: "temperature", ...zeroToTwo },
  { format: "Responses", field: "top_p", ...zeroToOne },
  { format: "Responses", field: "max_output_tokens", ...cap },
  { format: "Responses", field: "top_logprobs", good: [0, 20], bad: [-1, 21, ...notIntegers] },
  { format: "Responses", field: "instructions", good: ["x"], bad: [1, {}] },
  { format: "Responses", field: "input", good: ["x", [], { role: "user", content: "x" }], bad: [1, true] },
  { format: "Responses", field: "reasoning", good: [{ effort: "low" }], bad: ["low", []] },
  { format: "Responses", field: "text", good: [{ format: { type: "text" } }], bad: ["text"] },
  { format: "Responses", field: "tools", good: [[], { type: "web_search" }], bad: ["x"] },
  { format: "Responses", field: "tool_choice", good: ["auto", {}], bad: [1] },
  { format: "Responses", field: "truncation", good: ["auto", "disabled"], bad: [1, {}] },
  { format: "Responses", field: "include", good: [["reasoning.encrypted_content"]], bad: ["x"] },
  { format: "Responses", field: "store", good: [true, false], bad: notBooleans },
  { format: "Responses", field: "stream", good: [false], bad: notBooleans },
  { format: "Messages", field: "max_tokens", ...cap },
  { format: "Messages", field: "temperature", ...zeroToOne },
  { format: "Messages", field: "top_p", ...zeroToOne },
  { format: "Messages", field: "top_k", good: [0, 40], bad: [-1, ...notIntegers] },
  { format: "Messages", field: "system", good: ["x", [{ type: "text", text: "x" }]], bad: [1, {}] },
  { format: "Messages", field: "stop_sequences", good: [["x"]], bad: ["x"] },
  { format: "Messages", field: "stream", good: [false], bad: notBooleans },
  { format: "Messages", field: "tools", good: [[]], bad: ["x", {}] },
  { format: "Messages", field: "tool_choice", good: [{ type: "auto" }], bad: ["auto"] },
  { format: "Messages", field: "thinking", good: [{ type: "enabled", budget_tokens: 1_024 }], bad: ["enabled"] },
  { format: "Messages", field: "thinking.budget_tokens", good: [0, 1_024], bad: [-1, 1.5, "1"] },
  { format: "Messages", field: "metadata", good: [{ user_id: "u" }], bad: ["u"] },
  ...both("GenerateContent", "temperature", zeroToTwo),
  ...both("GenerateContent", "topP", zeroToOne),
  ...both("GenerateContent", "topK", { good: [0, 40, 40.5], bad: [-1, ...notNumbers] }),
  ...both("GenerateContent", "maxOutputTokens", cap),
  ...both("GenerateContent", "candidateCount", { good: [1, 8], bad: [0, 129, ...notIntegers] }),
  ...both("GenerateContent", "stopSequences", { good: [["x"]], bad: ["x"] }),
  ...both("GenerateContent", "presencePenalty", penalty),
  ...both("GenerateContent", "frequencyPenalty", penalty),
  ...both("GenerateContent", "seed", { good: [0, -2_147_483_648, 2_147_483_647], bad: [2_147_483_648, 1.5, "1"] }),
  ...both("GenerateContent", "responseMimeType", { good: ["application/json", "text/plain"], bad: [1] }),
  ...both("GenerateContent", "responseSchema", { good: [{ type: "OBJECT" }], bad: ["x", []] }),
  ...both("GenerateContent", "thinkingConfig", { good: [{ thinkingBudget: 0 }], bad: ["x"] }),
  ...both("GenerateContent", "responseModalities", { good: [["TEXT"], ["TEXT", "IMAGE"]], bad: ["TEXT"] }),
];

function bodyWith(form: ChatCallForm, field: string, value: unknown): object {
  const [first = "", second] = field.split(".");
  return { ...form.body("demo", false), [first]: second === undefined ? value : { [second]: value } };
}

async function assertParameterError(capture: Capture, form: ChatCallForm, model: string, field: string, body: object) {
  const { answer, received } = await capture.send({
    form,
    model,
    body: JSON.stringify({ ...body, ...modelOf(form, model) }),
  });
  assert.equal(answer.status, 400, `${JSON.stringify(body)} was ${answer.status}`);
  assert.match(String(at(answer.json(), "error", "message")), new RegExp(`'${field.replace(".", "\\.")}'`));
  assert.equal(received, undefined, "nothing goes upstream");
}

function modelOf(form: ChatCallForm, model: string): object {
  return form.format === "GenerateContent" ? {} : { model };
}

describe("docs/design/interface.md 8: limits", () => {
  const target = { targets: [{ name: "main", channelRef: { name: "demo" } }] };
  const capture = useCapture((origin) => [
    keyManifest("main", { limits: [{ name: "all", unit: "Requests", limit: "900000", period: "Lifetime" }] }),
    channelManifest("demo", origin),
    routeManifest("demo"),
    channelManifest("strict", origin, { unsupportedParameters: "Reject", concurrency: { maxInFlight: 1 } }),
    routeManifest("strict", { parameters: [{ name: "top_k", support: "Unsupported" }] }),
    routeManifest("narrow", {
      ...target,
      parameters: [
        { name: "temperature", maximum: "1" },
        { name: "top_p", minimum: "0.1", maximum: "0.9" },
        { name: "max_tokens", maximum: "100" },
        { name: "max_output_tokens", maximum: "100" },
        { name: "reasoning_effort", allowed: ["low", "high"] },
        { name: "top_k", support: "Unsupported" },
      ],
    }),
  ]);
  const formOf = (format: Format): ChatCallForm =>
    callForms.find((form) => form.format === format) ?? assert.fail(format);

  for (const { format, field, good, bad } of rows) {
    const form = formOf(format);
    it(`${format} takes ${field} within its bounds, and null as absent`, async () => {
      for (const value of [...good, ...(required.has(`${format} ${field}`) ? [] : [null])]) {
        const { answer, received } = await capture().send({
          form,
          model: "demo",
          body: JSON.stringify(bodyWith(form, field, value)),
        });
        assert.equal(answer.status, 200, `${JSON.stringify(value)}: ${answer.body}`);
        assert.ok(received !== undefined);
      }
    });
    it(`${format} refuses ${field} beyond its bounds or of another type`, async () => {
      for (const value of bad) {
        await assertParameterError(capture(), form, "demo", field, bodyWith(form, field, value));
      }
    });
  }

  for (const form of callForms) {
    it(`${form.format} refuses a number beyond every double`, async () => {
      const usual = JSON.stringify(form.body("demo", false)).slice(1);
      const { answer } = await capture().send({ form, model: "demo", body: `{"temperature":1e400,${usual}` });
      assert.equal(answer.status, 400);
    });
  }

  const narrowed: readonly { format: Format; field: string; good: readonly unknown[]; bad: readonly unknown[] }[] = [
    { format: "ChatCompletions", field: "temperature", good: [0, 1], bad: [1.01, 2] },
    { format: "Responses", field: "temperature", good: [0, 1], bad: [1.01] },
    { format: "GenerateContent", field: "generationConfig.temperature", good: [1], bad: [1.01] },
    { format: "ChatCompletions", field: "top_p", good: [0.1, 0.9], bad: [0.09, 0.91] },
    { format: "Messages", field: "top_p", good: [0.5], bad: [0, 1] },
    { format: "GenerateContent", field: "generationConfig.topP", good: [0.5], bad: [1] },
    { format: "GenerateContent", field: "top_p", good: [0.5], bad: [1] },
    { format: "ChatCompletions", field: "max_tokens", good: [100], bad: [101] },
    { format: "Messages", field: "max_tokens", good: [100], bad: [101] },
    { format: "Responses", field: "max_output_tokens", good: [100], bad: [101] },
    { format: "GenerateContent", field: "generationConfig.maxOutputTokens", good: [100], bad: [101] },
    { format: "ChatCompletions", field: "reasoning_effort", good: ["low"], bad: ["medium", "max"] },
  ];
  for (const { format, field, good, bad } of narrowed) {
    it(`a route narrows ${field} of ${format}`, async () => {
      const form = formOf(format);
      for (const value of good) {
        const body = { max_tokens: 50, ...bodyWith(form, field, value), ...modelOf(form, "narrow") };
        const { answer } = await capture().send({ form, model: "narrow", body: JSON.stringify(fitting(form, body)) });
        assert.equal(answer.status, 200, `${JSON.stringify(value)}: ${answer.body}`);
      }
      for (const value of bad) {
        const body = fitting(form, bodyWith(form, field, value), field);
        await assertParameterError(capture(), form, "narrow", field, body);
      }
    });
  }

  const unsupported: readonly { format: Format; field: string }[] = [
    { format: "ChatCompletions", field: "top_k" },
    { format: "Messages", field: "top_k" },
    { format: "GenerateContent", field: "generationConfig.topK" },
    { format: "GenerateContent", field: "generation_config.top_k" },
    { format: "GenerateContent", field: "top_k" },
  ];
  for (const { format, field } of unsupported) {
    const form = formOf(format);
    it(`${field} of ${format} is left out where the model does not support it and the channel ignores it`, async () => {
      const call = { form, model: "narrow" };
      const body = { ...bodyWith(form, field, 5), ...modelOf(form, "narrow") };
      const sent = await capture().forwarded({ ...call, body: JSON.stringify(fitting(form, body)) });
      assert.equal(/top_?k/i.test(JSON.stringify(sent)), false, JSON.stringify(sent));
    });
    it(`${field} of ${format} is refused where the model does not support it and the channel rejects it`, async () => {
      const body = fitting(form, bodyWith(form, field, 5));
      const { answer, received } = await capture().send({
        form,
        model: "strict",
        body: JSON.stringify({ ...body, ...modelOf(form, "strict") }),
      });
      assert.equal(answer.status, 400);
      assert.match(String(at(answer.json(), "error", "message")), new RegExp(`'${field.replace(".", "\\.")}'`));
      assert.equal(received, undefined);
    });
  }

  it("costs nothing to be refused: no reservation is left, no request is counted", async () => {
    const form = formOf("ChatCompletions");
    const { answer } = await capture().send({ form, model: "strict" });
    assert.equal(answer.status, 200, "a refused call holds no place on its channel");
    await capture().gateway.recordOf(answer.header("x-request-id") ?? "");
    const { ledger, records } = capture().gateway;
    const served = records.filter(({ status }) => status === 200).length;
    assert.equal(records.length > served, true);
    assert.equal(ledger.openCount, 0);
    assert.equal(ledger.read("key/default/main/all")?.posted, BigInt(served));
  });
});

const required = new Set(["Messages max_tokens", "Responses input"]);

/** Messages need a cap, and the narrow route allows 100 at most. */
function fitting(form: ChatCallForm, body: object, field = ""): object {
  if (form.format !== "Messages" || field === "max_tokens") return body;
  return { ...body, max_tokens: Math.min(100, Number(Reflect.get(body, "max_tokens"))) };
}
