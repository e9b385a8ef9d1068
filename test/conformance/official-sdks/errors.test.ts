/**
 * Every class of error as the official SDKs raise it, two generations each: the class, the code that programs compare,
 * and the request id. A refusal is a refusal whether the call streams or not.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { anthropicWords, type ErrorCase, errorCases, geminiWords } from "#test/support/conformance/error-cases";
import { clientKey } from "#test/support/conformance/manifests";
import { useSdkGateway } from "#test/support/conformance/sdk-gateway";
import { anthropicGenerations, genaiGenerations, openaiGenerations } from "#test/support/official-clients";

const textOf = (row: ErrorCase): string => (row.isLarge === true ? "x".repeat(300 * 1_024) : "hello");
const heatOf = (row: ErrorCase): object => (row.isTooHot === true ? { temperature: 3 } : {});
const read = (error: Error, name: string): unknown => Reflect.get(error, name);

async function thrown(call: () => Promise<unknown>): Promise<Error> {
  try {
    await call();
  } catch (error) {
    assert.ok(error instanceof Error);
    return error;
  }
  assert.fail("it was served");
}

describe("official SDKs: errors", function () {
  this.timeout(20_000);
  const gateway = useSdkGateway();

  for (const { name, load } of openaiGenerations) {
    for (const row of errorCases) {
      it(`${name} raises ${row.class} for ${row.name}`, async () => {
        const client = new (load())({
          baseURL: `${gateway().origin}/v1`,
          apiKey: clientKey(row.key ?? "main"),
          maxRetries: 0,
        });
        const usual = { model: row.model ?? "demo", ...heatOf(row) };
        const messages = [{ role: "user" as const, content: textOf(row) }];
        for (const call of [
          () => client.chat.completions.create({ ...usual, messages }),
          () => client.chat.completions.create({ ...usual, messages, stream: true }),
          () => client.responses.create({ ...usual, input: textOf(row) }),
          () => client.responses.create({ ...usual, input: textOf(row), stream: true }),
        ]) {
          const error = await thrown(call);
          assert.equal(error.constructor.name, row.class);
          assert.equal(read(error, "status"), row.status);
          assert.equal(read(error, "code"), row.word);
          assert.equal(read(error, "param") ?? undefined, row.param);
          assert.match(String(read(error, "requestID")), /^req_/);
        }
      });
    }
  }

  for (const { name, load } of anthropicGenerations) {
    for (const row of errorCases) {
      const [status, type, newer, older = newer] = anthropicWords[row.word] ?? assert.fail(row.word);
      const expected = name === "anthropic 1" ? newer : older;
      it(`${name} raises ${expected} for ${row.name}`, async () => {
        const client = new (load())({
          baseURL: gateway().origin,
          apiKey: clientKey(row.key ?? "main"),
          maxRetries: 0,
        });
        const call = {
          model: row.model ?? "demo",
          max_tokens: 100,
          messages: [{ role: "user" as const, content: textOf(row) }],
          ...heatOf(row),
        };
        for (const error of [
          await thrown(() => client.messages.create(call)),
          await thrown(() => client.messages.stream(call).finalMessage()),
        ]) {
          assert.equal(error.constructor.name, expected);
          assert.equal(read(error, "status"), status);
          const body = read(error, "error");
          assert.equal(Reflect.get(Object(Reflect.get(Object(body), "error")), "type"), type);
          assert.match(String(read(error, "requestID")), /^req_/);
        }
      });
    }
  }

  for (const { name, load } of genaiGenerations) {
    for (const row of errorCases) {
      it(`${name} raises ApiError ${row.status} for ${row.name}`, async () => {
        const client = new (load())({
          apiKey: clientKey(row.key ?? "main"),
          httpOptions: { baseUrl: gateway().origin },
        });
        const model = `models/${row.model ?? "demo"}`;
        const call = { model, contents: textOf(row), config: heatOf(row) };
        for (const error of [
          await thrown(() => client.models.generateContent(call)),
          await thrown(() => client.models.generateContentStream(call)),
        ]) {
          assert.equal(read(error, "status"), row.status);
          const { error: told } = JSON.parse(error.message);
          assert.equal(told.code, row.status);
          assert.equal(told.status, geminiWords[row.word]);
        }
      });
    }
  }
});
