/** DESIGN.md section 6, `quota.unboundedOutput: Cap`: a call without a cap gets one that its balance affords. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useCapture } from "../../support/conformance/capture.ts";
import { callForms } from "../../support/conformance/chat-calls.ts";
import { accountManifest, channelManifest, keyManifest, routeManifest } from "../../support/conformance/manifests.ts";

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
