/**
 * Every recorded request through the gateway to an upstream of its own format: it arrives byte for byte, but for the
 * edits that are documented. Spellings of numbers, unknown fields, white space and order are the client's.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useCapture } from "#test/support/conformance/capture";
import { callFormOf, callForms } from "#test/support/conformance/chat-calls";
import { channelManifest, keyManifest, routeManifest } from "#test/support/conformance/manifests";
import { explainAbsence, type Recorded, readRecorded } from "#test/support/digest/recorded";

const withRequest = readRecorded()?.filter((reply) => reply.request() !== undefined);

/** Edits by the recording's id without `upstream/`: in each, usage is asked for where the client did not. */
const asksForUsage = new Set([
  "openai-chat/stream-text",
  "openai-chat/stream-tool",
  "openai-chat/stream-tools-parallel",
  "openai-chat/stream-thinking-parts-mistral",
  "openai-chat/stream-error-mid-stream-groq",
]);

/** The recording's own client sent what every provider refuses. */
const refused = new Set(["openai-chat/error-400-bad-request"]);

const shortId = (reply: Recorded): string => reply.id.replace(/^upstream\//, "");

/** The bytes that must arrive: the public model name replaced, usage asked for, nothing else. */
function expectedBytes(reply: Recorded, body: Buffer, upstreamModel: string | undefined): string {
  let expected = body.toString("utf8");
  if (upstreamModel !== undefined && reply.protocol !== "gemini") {
    const model: unknown = Reflect.get(Object(JSON.parse(expected)), "model");
    expected = expected.replace(
      new RegExp(`("model"\\s*:\\s*)${JSON.stringify(model).replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`),
      (_, before: string) => before + JSON.stringify(upstreamModel),
    );
  }
  if (!asksForUsage.has(shortId(reply))) return expected;
  return expected.replace(/(\s*\}\s*)$/, (end) => `,"stream_options":{"include_usage":true}${end}`);
}

describe("recorded requests through the gateway", () => {
  if (withRequest === undefined) {
    it(explainAbsence("recorded requests through the gateway"));
    return;
  }
  const capture = useCapture((origin) => [
    keyManifest("main"),
    channelManifest("same", origin, { upstreamObjects: "Shared" }),
    routeManifest("same", { model: "*" }),
  ]);
  const renaming = useCapture((origin) => [
    keyManifest("main"),
    channelManifest("renamed", origin, { upstreamObjects: "Shared" }),
    routeManifest("renamed", {
      model: "*",
      targets: [{ name: "main", channelRef: { name: "renamed" }, upstreamModel: "maker/other-model" }],
    }),
  ]);

  for (const reply of withRequest) {
    const body = reply.request() ?? Buffer.alloc(0);
    const form = callFormOf(reply.protocol);
    const call = { form, model: "some-model", stream: reply.isStream, body };
    if (refused.has(shortId(reply))) {
      it(`refuses ${shortId(reply)}, which no provider could take`, async () => {
        const { answer, received } = await capture().send(call);
        assert.equal(answer.status, 400);
        assert.equal(received, undefined);
      });
      continue;
    }
    it(`sends ${shortId(reply)} on as it came`, async () => {
      const { answer, received } = await capture().send(call);
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(received?.body.toString("utf8"), expectedBytes(reply, body, undefined));
    });
    it(`changes nothing but the model's name in ${shortId(reply)}`, async () => {
      const { received } = await renaming().send(call);
      assert.equal(received?.body.toString("utf8"), expectedBytes(reply, body, "maker/other-model"));
      if (reply.protocol !== "gemini") return;
      const verb = reply.isStream ? "streamGenerateContent?alt=sse" : "generateContent";
      assert.equal(received?.target, `/v1/models/maker%2Fother-model:${verb}`);
    });
  }

  it("has looked at every recorded request", () => assert.equal(withRequest.length, 121));
});

describe("spellings through the gateway", () => {
  const capture = useCapture((origin) => [
    keyManifest("main"),
    channelManifest("same", origin, { upstreamObjects: "Shared" }),
    routeManifest("same", { model: "public" }),
  ]);
  /** Members that a parser and a writer of JSON would change. */
  const spelled = [
    '"seed":12345678901234567890',
    '"seed" : 1.0',
    '"top_p":1e-1',
    '"temperature":0.10000000000000000555',
    '"x_unknown":{"a":1,  "b":[1.50,-0,1E3]}',
    '"x_text":"\\u00e9\\ud83d\\ude00\\/ \\u2028"',
    '"__proto__":{"polluted":true}',
    '"x_null":null',
    '"x_empty":[ ]',
    '"x_deep":[[[[{"a":[{}]}]]]]',
  ];
  for (const form of callForms) {
    for (const member of spelled) {
      // Google's seed has 32 bits.
      if (form.format === "GenerateContent" && member.includes("12345678901234567890")) continue;
      it(`leaves ${member} as it is in ${form.format}`, async () => {
        const usual = JSON.stringify(form.body("public", false)).slice(1, -1);
        const body = `{ ${member} ,\n\t${usual}\r\n}`;
        const { answer, received } = await capture().send({ form, model: "public", body });
        assert.equal(answer.status, 200, answer.body.toString());
        const arrived = received?.body.toString("utf8") ?? "";
        if (form.format === "GenerateContent" && generationMembers.test(member)) {
          const value = member.slice(member.indexOf(":") + 1).trim();
          assert.match(arrived, new RegExp(`"generationConfig":\\{"\\w+":${value.replace(/[.+]/g, "\\$&")}\\}`));
        } else assert.equal(arrived, body);
      });
    }
  }
});

/** Written at the top level they are brought to their place, the number spelled as it was. */
const generationMembers = /^"(?:seed|top_p|temperature)"/;
