/** `/v1/moderations`: passed on to upstreams that serve it, restricted, charged and limited like every call. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useEndpointRig } from "#test/support/conformance/endpoint-rig";
import { channelManifest, channelSecret, keyManifest, routeManifest } from "#test/support/conformance/manifests";
import { at } from "#test/support/digest/facts";

const verdict = { flagged: true, categories: { violence: true }, category_scores: { violence: 0.9 } };
const reply = { body: JSON.stringify({ id: "modr-1", model: "judge-1", results: [verdict] }) };

const capabilities = ["Moderation"];
const onJudge = { capabilities, targets: [{ name: "main", channelRef: { name: "judge" } }] };

describe("moderations", () => {
  const rig = useEndpointRig({
    path: "/v1/moderations",
    manifests: (origin) => [
      keyManifest("chat-only", { capabilities: ["Chat"] }),
      keyManifest("poor", { limits: [{ name: "quota", unit: "Cost", limit: "0.000001", period: "Lifetime" }] }),
      channelManifest("judge", origin, {
        formats: [{ type: "Moderations" }, { type: "ChatCompletions" }],
        models: [{ name: "judge", upstreamName: "judge-1" }, { name: "mute", capabilities: ["Chat"] }, { name: "*" }],
      }),
      routeManifest("judge", { capabilities, price: { inputPerMillion: "1", perRequest: "0.5" } }),
      routeManifest("chatter", { targets: onJudge.targets }),
      routeManifest("mute", onJudge),
      routeManifest("omni", { model: "omni-moderation-latest", ...onJudge }),
    ],
  });

  for (const path of ["/v1/moderations", "/moderations", "/v1/v1/moderations"]) {
    it(`POST ${path} passes the call on under the upstream's name, and the reply back`, async () => {
      rig.upstream.replyWith(reply);
      const answer = await rig.call({ model: "judge", input: "hit him", vendor_field: { deep: 1.0 } }, { path });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(answer.header("content-type"), "application/json");
      assert.equal(answer.body.toString(), reply.body);
      const [sent] = rig.upstream.requests;
      assert.equal(sent?.target, "/v1/moderations");
      assert.equal(sent?.headers["authorization"], `Bearer ${channelSecret}`);
      assert.deepEqual(sent?.json(), { model: "judge-1", input: "hit him", vendor_field: { deep: 1.0 } });
    });
  }

  it("takes OpenAI's default model where the call names none", async () => {
    rig.upstream.replyWith(reply);
    assert.equal((await rig.call({ input: "a" })).status, 200);
    assert.equal(at(rig.upstream.requests[0]?.json(), "model"), "omni-moderation-latest");
  });

  it("charges the request and the text that was read", async () => {
    rig.upstream.replyWith(reply);
    const answer = await rig.call({ model: "judge", input: "three words here" });
    const record = await rig.recordOf(answer);
    const { input } = record.usage ?? { input: 0 };
    assert.ok(input >= 3 && input <= 6, `${input} tokens`);
    assert.equal(record.costNanos, 500_000_000n + BigInt(input) * 1_000n);
    assert.deepEqual([record.format, record.isEstimated, record.status], ["Moderations", true, 200]);
  });

  for (const row of [
    { name: "without input", body: { model: "judge" }, code: null, param: "input" },
    { name: "with a number", body: { model: "judge", input: 4 }, code: "invalid_type", param: "input" },
    { name: "with nothing", body: { model: "judge", input: [] }, code: "invalid_value", param: "input" },
    { name: "with a list of numbers", body: { model: "judge", input: [1] }, code: "invalid_type", param: "input[0]" },
    { name: "with a model that is no text", body: { model: 7, input: "a" }, code: "invalid_type", param: "model" },
    { name: "of a model for chat", body: { model: "chatter", input: "a" }, code: null, param: "model" },
    { name: "of a channel's model that lacks it", body: { model: "mute", input: "a" }, code: null, param: "model" },
    {
      name: "that names its model twice",
      body: '{"model":"judge","model":"judge","input":"a"}',
      code: null,
      param: null,
    },
  ]) {
    it(`refuses a call ${row.name} before any upstream is called`, async () => {
      const answer = await rig.call(row.body);
      assert.equal(answer.status, 400, answer.body.toString());
      const error = at(answer.json(), "error");
      if (row.code !== null) assert.equal(at(error, "code"), row.code);
      if (row.param !== null) assert.equal(at(error, "param"), row.param);
      assert.equal(rig.upstream.requests.length, 0);
    });
  }

  it("refuses a key that is for chat alone, and one whose ceiling the call does not fit", async () => {
    assert.equal((await rig.call({ model: "judge", input: "a" }, { key: "chat-only" })).status, 403);
    const answer = await rig.call({ model: "judge", input: "a" }, { key: "poor" });
    assert.equal(at(answer.json(), "error", "code"), "insufficient_quota");
    assert.equal(rig.upstream.requests.length, 0);
  });

  const text = { type: "text", text: "a" };
  for (const row of [
    { name: "a text", input: "a", takes: [1] },
    { name: "two texts", input: ["a", "b"], takes: [2] },
    { name: "the parts of one input", input: [text, { type: "image_url", image_url: { url: "x" } }], takes: [1] },
    { name: "texts and parts, of which OpenAI says nothing", input: ["a", text], takes: [1, 2, 3] },
  ]) {
    it(`takes as many verdicts as there should be of ${row.name}, and fails any other number`, async () => {
      for (const count of [0, 1, 2, 3]) {
        rig.upstream.replyWith({ body: JSON.stringify({ results: Array(count).fill(verdict) }) });
        const answer = await rig.call({ model: "judge", input: row.input });
        assert.equal(answer.status < 300, row.takes.includes(count), `${count} verdicts: ${answer.status}`);
      }
    });
  }

  it("takes verdicts of categories alone", async () => {
    rig.upstream.replyWith({ body: JSON.stringify({ results: [{ categories: { pii: false } }] }) });
    assert.equal((await rig.call({ model: "judge", input: "a" })).status, 200);
  });

  for (const row of [
    { name: "a verdict that is null", script: { body: '{"results":[null]}' } },
    { name: "a verdict that says nothing", script: { body: '{"results":[{}]}' } },
    { name: "an error body under a status of success", script: { body: '{"error":{"message":"no"}}' } },
    { name: "a page of HTML", script: { body: "<html>", headers: { "content-type": "text/html" } } },
    { name: "JSON that is no verdict", script: { body: "[]" } },
    { name: "a reply that is cut", script: { body: reply.body, framing: "length", cutAt: 20 } },
    { name: "a status of 500", script: { status: 500, body: "oops" } },
  ] as const) {
    it(`never passes ${row.name} as a verdict`, async () => {
      rig.upstream.replyWith(row.script);
      const answer = await rig.call({ model: "judge", input: "a" });
      assert.ok(answer.status >= 400, `${answer.status}`);
      assert.equal(typeof at(answer.json(), "error", "message"), "string");
    });
  }
});
