/**
 * docs/design/limits-and-money.md 4, `quota.unboundedOutput: Cap`: a call without a cap gets one that its balance
 * affords.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useCapture } from "#test/support/conformance/capture";
import { callForms } from "#test/support/conformance/chat-calls";
import { accountManifest, channelManifest, keyManifest, routeManifest } from "#test/support/conformance/manifests";

/** Where each format has its cap (a Messages call always brings one), and the estimate of the smallest call's input. */
const forms = {
  ChatCompletions: { path: ["max_tokens"], inputNanos: 23_000n },
  Responses: { path: ["max_output_tokens"], inputNanos: 21_000n },
  GenerateContent: { path: ["generationConfig", "maxOutputTokens"], inputNanos: 21_000n },
} as const;
const creditNanos = 300_000n;
const outputNanos = 2_000n;

function nameOf(format: string): string {
  return format.toLowerCase();
}

describe("an output cap for calls that set none", () => {
  const capture = useCapture(
    (origin) => [
      channelManifest("echo", origin),
      routeManifest("echo"),
      keyManifest("rich"),
      ...callForms.flatMap(({ format }) => [
        accountManifest(nameOf(format), { credit: "0.0003" }),
        keyManifest(nameOf(format), { accountRef: { name: nameOf(format) } }),
      ]),
    ],
    { settings: { unboundedOutput: "Cap" } },
  );

  for (const form of callForms) {
    const { format } = form;
    if (format !== "ChatCompletions" && format !== "Responses" && format !== "GenerateContent") continue;
    const { path, inputNanos } = forms[format];
    const capOf = (body: unknown): unknown =>
      path.reduce<unknown>((value, member) => Reflect.get(Object(value), member), body);

    it(`is the default reserve in ${format} where no balance bounds the caller`, async () => {
      assert.equal(capOf(await capture().forwarded({ form, model: "echo", key: "rich" })), 4_096);
    });

    it(`is what the balance affords in ${format}, and less after each call`, async () => {
      const key = nameOf(format);
      let posted = 0n;
      for (let round = 0; round < 2; round += 1) {
        const affordable = (creditNanos - posted - inputNanos) / outputNanos;
        assert.equal(capOf(await capture().forwarded({ form, model: "echo", key })), Number(affordable));
        const reading = capture().gateway.ledger.read(`account/default/${key}`);
        assert.ok(reading !== undefined && reading.posted > posted && reading.pending === 0n);
        posted = reading.posted;
      }
    });
  }

  it("leaves a cap of the client's as it is, and the ledger refuses what the balance does not cover", async () => {
    const form = callForms.find(({ format }) => format === "Messages") ?? assert.fail("no Messages");
    const key = nameOf("Messages");
    const body = await capture().forwarded({ form, model: "echo", key, body: { max_tokens: 100 } });
    assert.equal(body["max_tokens"], 100);
    const { answer, received } = await capture().send({ form, model: "echo", key, body: { max_tokens: 1_000 } });
    assert.equal(answer.status, 402);
    assert.equal(received, undefined);
  });
});

describe("a ceiling on output where body rules change the cap", () => {
  const rules: Readonly<Record<string, object>> = {
    ChatCompletions: { set: [{ field: "max_tokens", value: 5_000 }] },
    Responses: { set: [{ field: "max_output_tokens", value: 5_000 }] },
    Messages: { set: [{ field: "max_tokens", value: 5_000 }] },
    GenerateContent: { set: [{ field: "generationConfig", value: { maxOutputTokens: 5_000 } }] },
  };
  const small = { max_tokens: 10 };
  const candidates = { set: [{ field: "n", value: 60 }] };
  const ceiling = (limit: string) => ({
    limits: [{ name: "out", unit: "OutputTokens", limit, period: "Month" }],
  });
  const capture = useCapture((origin) => [
    ...callForms.flatMap(({ format }) => {
      const name = nameOf(format);
      const targets = [{ name: "main", channelRef: { name: "plain" }, parameters: rules[format] }];
      return [
        channelManifest(name, origin, { body: rules[format] }),
        routeManifest(name),
        routeManifest(`${name}-target`, { targets }),
        keyManifest(`${name}-low`, ceiling("4999")),
        keyManifest(`${name}-high`, ceiling("5001")),
      ];
    }),
    channelManifest("plain", origin),
    channelManifest("many", origin, { body: candidates }),
    routeManifest("many"),
    keyManifest("low", ceiling("599")),
    keyManifest("high", ceiling("601")),
  ]);

  for (const form of callForms) {
    const name = nameOf(form.format);
    for (const model of [name, `${name}-target`]) {
      it(`reserves what is sent and not what the client set, in ${form.format} (${model})`, async () => {
        const body =
          form.format === "GenerateContent" || form.format === "Responses" ? { max_output_tokens: 10 } : small;
        const refused = await capture().send({ form, model, key: `${name}-low`, body });
        assert.equal(refused.answer.status, form.format === "Messages" ? 402 : 429, refused.answer.body.toString());
        assert.equal(refused.received, undefined);
        const served = await capture().send({ form, model, key: `${name}-high`, body });
        assert.equal(served.answer.status, 200, served.answer.body.toString());
        assert.ok(served.received?.body.includes("5000"));
      });
    }
  }

  it("reserves for the candidates that a rule asks for", async () => {
    const form = callForms.find(({ format }) => format === "ChatCompletions") ?? assert.fail("no chat");
    for (const [key, status] of [
      ["low", 429],
      ["high", 200],
    ] as const) {
      const { answer } = await capture().send({ form, model: "many", key, body: small });
      assert.equal(answer.status, status, answer.body.toString());
    }
  });
});
