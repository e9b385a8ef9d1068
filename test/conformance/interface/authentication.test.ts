/**
 * docs/design/interface.md 5 and 7: who is let in, with which header, and what everybody else is told, in every format
 * and for model lists. The closed rules of where a key may stand are the security suite's; here is what a user meets.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useCapture } from "#test/support/conformance/capture";
import { type ChatCallForm, callForms } from "#test/support/conformance/chat-calls";
import { type HttpAnswer, httpCall } from "#test/support/conformance/http-call";
import {
  accountManifest,
  channelManifest,
  clientKey,
  keyManifest,
  routeManifest,
} from "#test/support/conformance/manifests";
import { at } from "#test/support/digest/facts";

type Protocol = "A" | "B" | "C";
const protocolOf: Readonly<Record<ChatCallForm["format"], Protocol>> = {
  ChatCompletions: "A",
  Responses: "A",
  Messages: "B",
  GenerateContent: "C",
};

/** What an error says: `status type/code` of A, `status type` of B, `status status reason` of C. */
function told(protocol: Protocol, answer: HttpAnswer): string {
  const error = at(answer.json(), "error");
  if (protocol === "A") return `${answer.status} ${at(error, "type")}/${at(error, "code")}`;
  if (protocol === "B") return `${answer.status} ${at(error, "type")}`;
  assert.equal(at(error, "code"), answer.status, "the code of C is the HTTP status");
  const reason = at(error, "details", 0, "reason");
  return `${answer.status} ${at(error, "status")}${reason === undefined ? "" : ` ${reason}`}`;
}

const unauthenticated: Readonly<Record<Protocol, string>> = {
  A: "401 invalid_request_error/invalid_api_key",
  B: "401 authentication_error",
  C: "401 UNAUTHENTICATED API_KEY_INVALID",
};
const denied = (code: string): Readonly<Record<Protocol, string>> => ({
  A: `403 permission_error/${code}`,
  B: "403 permission_error",
  C: "403 PERMISSION_DENIED",
});
const spent: Readonly<Record<Protocol, string>> = {
  A: "429 insufficient_quota/insufficient_quota",
  B: "402 billing_error",
  C: "429 RESOURCE_EXHAUSTED",
};
const tooFast: Readonly<Record<Protocol, string>> = {
  A: "429 rate_limit_error/rate_limit_exceeded",
  B: "429 rate_limit_error",
  C: "429 RESOURCE_EXHAUSTED",
};

const key = clientKey("main");
const limit = (unit: string, amount: string, period: string) => ({
  limits: [{ name: "only", unit, limit: amount, period }],
});

describe("docs/design/interface.md 5 and 7: keys", () => {
  const capture = useCapture((origin) => [
    accountManifest("empty", { credit: "0" }),
    accountManifest("funded", { credit: "5" }),
    accountManifest("closed", { credit: "5", state: "Suspended" }),
    keyManifest("main"),
    keyManifest("suspended", { state: "Suspended" }),
    keyManifest("expired", { expiresAt: "2020-01-01T00:00:00Z" }),
    keyManifest("elsewhere", { clientCIDRs: { allow: ["192.0.2.0/24"] } }),
    keyManifest("here-denied", { clientCIDRs: { allow: ["0.0.0.0/0"], deny: ["127.0.0.0/8"] } }),
    keyManifest("here", { clientCIDRs: { allow: ["127.0.0.1/32"] } }),
    keyManifest("narrow", { models: { allow: ["other*"] } }),
    keyManifest("denied", { models: { allow: ["*"], deny: ["demo"] } }),
    keyManifest("only-a", { protocols: ["OpenAI"] }),
    keyManifest("lists-only", { capabilities: ["Models"] }),
    keyManifest("unfunded", { accountRef: { name: "empty" } }),
    keyManifest("funded", { accountRef: { name: "funded" } }),
    keyManifest("account-closed", { accountRef: { name: "closed" } }),
    keyManifest("no-tokens", limit("Tokens", "1", "Day")),
    keyManifest("no-money", limit("Cost", "0.000001", "Month")),
    keyManifest("no-rate", limit("Tokens", "1", "Minute")),
    channelManifest("demo", origin),
    routeManifest("demo"),
  ]);

  const places: readonly {
    format: ChatCallForm["format"];
    name: string;
    headers: Record<string, string>;
    path?: string;
  }[] = [
    { format: "ChatCompletions", name: "Authorization", headers: { authorization: `Bearer ${key}` } },
    { format: "Responses", name: "Authorization", headers: { authorization: `Bearer ${key}` } },
    { format: "Messages", name: "x-api-key", headers: { "x-api-key": key } },
    { format: "Messages", name: "Authorization", headers: { authorization: `Bearer ${key}` } },
    { format: "GenerateContent", name: "x-goog-api-key", headers: { "x-goog-api-key": key } },
    { format: "GenerateContent", name: "x-vendorc-api-key", headers: { "x-vendorc-api-key": key } },
    { format: "GenerateContent", name: "Authorization", headers: { authorization: `Bearer ${key}` } },
    { format: "GenerateContent", name: "?key=", headers: {}, path: `/v1beta/models/demo:generateContent?key=${key}` },
  ];
  for (const { format, name, headers, path } of places) {
    it(`${format} takes the key by ${name}`, async () => {
      const form = callForms.find((candidate) => candidate.format === format) ?? assert.fail(format);
      const answer = await httpCall({
        origin: capture().gateway.origin,
        path: path ?? form.path("demo", false),
        headers,
        body: JSON.stringify(form.body("demo", false)),
      });
      assert.equal(answer.status, 200, answer.body.toString());
    });
  }

  const refused: readonly { name: string; key: string; says: Readonly<Record<Protocol, string>> }[] = [
    { name: "a key that nobody has", key: "nobody", says: unauthenticated },
    { name: "a disabled key", key: "suspended", says: unauthenticated },
    {
      name: "an expired key",
      key: "expired",
      says: { ...unauthenticated, C: "401 UNAUTHENTICATED API_KEY_EXPIRED" },
    },
    { name: "a key of another network", key: "elsewhere", says: denied("ip_not_allowed") },
    { name: "a key whose network excludes the caller", key: "here-denied", says: denied("ip_not_allowed") },
    { name: "a key for other models", key: "narrow", says: denied("model_not_allowed") },
    { name: "a key that excludes the model", key: "denied", says: denied("model_not_allowed") },
    { name: "a key without the capability", key: "lists-only", says: denied("capability_not_allowed") },
    { name: "a key whose account is out of credit", key: "unfunded", says: spent },
    { name: "a key whose tokens of the day are used up", key: "no-tokens", says: spent },
    { name: "a key whose money of the month is used up", key: "no-money", says: spent },
    { name: "a key that is too fast", key: "no-rate", says: tooFast },
  ];
  for (const form of callForms) {
    const protocol = protocolOf[form.format];
    for (const row of refused) {
      for (const stream of [false, true]) {
        it(`${form.format} refuses ${row.name}${stream ? ", streamed" : ""}`, async () => {
          const { answer, received } = await capture().send({ form, model: "demo", key: row.key, stream });
          assert.equal(told(protocol, answer), row.says[protocol]);
          assert.equal(received, undefined, "nothing goes upstream");
          assert.equal(answer.header("content-type"), "application/json");
          assert.match(answer.header("x-request-id") ?? "", /^req_/);
          assert.equal(answer.header("www-authenticate"), answer.status === 401 ? "Bearer" : undefined);
          const isQuota = row.says === spent;
          assert.equal(answer.header("x-should-retry"), isQuota ? "false" : undefined);
          if (isQuota) assert.match(String(at(answer.json(), "error", "message")), /^insufficient quota/);
          const wait = Number(answer.header("retry-after"));
          if (row.says === tooFast) assert.equal(wait >= 1 && wait <= 60, true, `retry-after ${wait}`);
        });
      }
    }

    for (const good of ["here", "funded"]) {
      it(`${form.format} serves the key ${good}`, async () => {
        const { answer } = await capture().send({ form, model: "demo", key: good });
        assert.equal(answer.status, 200, answer.body.toString());
      });
    }

    it(`${form.format} serves a key of protocol A ${protocol === "A" ? "gladly" : "not"}`, async () => {
      const { answer } = await capture().send({ form, model: "demo", key: "only-a" });
      if (protocol === "A") assert.equal(answer.status, 200);
      else assert.equal(told(protocol, answer), denied("protocol_not_allowed")[protocol]);
    });

    it(`${form.format} never serves a key of a suspended account`, async () => {
      const { answer, received } = await capture().send({ form, model: "demo", key: "account-closed" });
      assert.equal([401, 402, 403, 429].includes(answer.status), true, String(answer.status));
      assert.equal(received, undefined);
    });

    it(`${form.format} without a key is told where to put it`, async () => {
      const body = JSON.stringify(form.body("demo", false));
      const { origin } = capture().gateway;
      const answer = await httpCall({ origin, path: form.path("demo", false), body });
      assert.equal(told(protocol, answer), unauthenticated[protocol]);
      const where = { A: /Authorization: Bearer/, B: /x-api-key/, C: /x-goog-api-key/ }[protocol];
      assert.match(String(at(answer.json(), "error", "message")), where);
    });

    it(`${form.format} lets no browser in`, async () => {
      const { origin } = capture().gateway;
      const path = form.path("demo", false);
      const asking = { origin: "https://page.example", "access-control-request-method": "POST" };
      const preflight = await httpCall({ origin, method: "OPTIONS", path, headers: asking });
      assert.equal(preflight.status, 405);
      const call = await capture().send({ form, model: "demo", headers: { origin: "https://page.example" } });
      const failed = await capture().send({
        form,
        model: "demo",
        key: "nobody",
        headers: { origin: "https://page.example" },
      });
      for (const { headers } of [preflight, call.answer, failed.answer]) {
        assert.deepEqual(
          Object.keys(headers).filter((name) => /^(?:access-control|timing-allow)/.test(name)),
          [],
        );
      }
    });
  }

  it("lists for each key exactly the models that it may call", async () => {
    const { origin } = capture().gateway;
    for (const [name, models] of [
      ["main", ["demo"]],
      ["narrow", []],
      ["denied", []],
      ["lists-only", []],
      ["unfunded", ["demo"]],
    ] as const) {
      const headers = { authorization: `Bearer ${clientKey(name)}` };
      const answer = await httpCall({ origin, path: "/v1/models", headers });
      assert.equal(answer.status, 200);
      const data = at(answer.json(), "data");
      assert.deepEqual(Array.isArray(data) ? data.map((model) => at(model, "id")) : data, models, name);
    }
  });
});
