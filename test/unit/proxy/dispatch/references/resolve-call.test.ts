import assert from "node:assert/strict";
import { type ResolvedCall, resolveCall, unknownReference } from "#proxy/dispatch/references/resolve-call";
import { GatewayError } from "#proxy/errors";
import type { ChatCall } from "#proxy/formats/format";
import { responsesClient as format } from "#proxy/formats/responses/native/client-format";
import { defaultLimits } from "#proxy/limits";
import { memoryStoreLimits } from "#proxy/responses-state/response-store";
import { MemoryResponses } from "#proxy/responses-state/store/memory-responses";
import { readBody } from "#test/support/calls/read-body";

const owner = "ns/key";
const user = { type: "message", role: "user", content: [{ type: "input_text", text: "one" }] };

/** A turn kept here, and one that a provider keeps. */
function storeWithBoth(): MemoryResponses {
  const responses = new MemoryResponses({ limits: memoryStoreLimits, now: () => 1 });
  const common = { previousId: undefined, createdMs: 1, model: "m" };
  responses.keep(owner, {
    ...common,
    kind: "local",
    id: "resp_local",
    input: [{ ...user, id: "msg_local" }],
    response: { id: "resp_local", output: [] },
  });
  const place = { channel: "ns/native", credential: "main" };
  responses.keep(owner, { ...common, ...place, kind: "native", id: "resp_native", itemIds: ["msg_native"] });
  return responses;
}

function resolved(body: object, changes: Partial<ChatCall> = {}): Promise<ResolvedCall> {
  const call = { ...readBody(format, { model: "m", ...body }), ...changes };
  return resolveCall(call, format, owner, { responses: storeWithBoth(), limits: defaultLimits });
}

describe("resolveCall()", () => {
  it("says of a conversation beyond the bounds on a body that it is too long: each turn of it was JSON", async () => {
    const call = readBody(format, { model: "m", previous_response_id: "resp_local" });
    const limits = { ...defaultLimits, jsonKeysMax: 0 };
    await assert.rejects(
      resolveCall(call, format, owner, { responses: storeWithBoth(), limits }),
      (error) => error instanceof GatewayError && error.code === "context_length",
    );
  });

  const rows: readonly { name: string; body: object; objects: readonly string[]; unknown: readonly string[] }[] = [
    { name: "a kept turn", body: { previous_response_id: "resp_local" }, objects: [], unknown: [] },
    { name: "a provider's turn", body: { previous_response_id: "resp_native" }, objects: [], unknown: [] },
    { name: "a kept item", body: { input: [{ id: "msg_local" }] }, objects: [], unknown: [] },
    { name: "a provider's item", body: { input: [{ type: null, id: "msg_native" }] }, objects: [], unknown: [] },
    { name: "a provider's lone item", body: { input: { id: "msg_native" } }, objects: [], unknown: [] },
    {
      name: "a kept turn, then a provider's lone item",
      body: { previous_response_id: "resp_local", input: { id: "msg_native" } },
      objects: [],
      unknown: [],
    },
    {
      name: "a kept turn, then nobody's item",
      body: { previous_response_id: "resp_local", input: [user, { role: null, id: "msg_theirs" }] },
      objects: ["input[2].id"],
      unknown: ["input[1].id"],
    },
    {
      name: "a provider's item beside nobody's",
      body: { input: [{ id: "msg_native" }, { type: null, id: "msg_theirs" }] },
      objects: ["input[1].id"],
      unknown: ["input[1].id"],
    },
    {
      name: "an item beside a conversation of the provider's",
      body: { conversation: "conv_1", input: [{ id: "msg_native" }] },
      objects: ["conversation"],
      unknown: [],
    },
  ];
  for (const { name, body, objects, unknown } of rows) {
    it(`leaves of ${name} ${objects.length === 0 ? "nothing" : objects.join()} to be judged`, async () => {
      const { call, references } = await resolved(body);
      assert.deepEqual([call.upstreamObjects, references?.unknown], [objects, unknown]);
    });
  }

  it("takes what only one of the two readers calls a reference as unknown", async () => {
    const given = { input: [{ ...user, id: "msg_theirs" }] };
    const { call, references } = await resolved(given, { upstreamObjects: ["input[0].id"] });
    assert.deepEqual([call.upstreamObjects, references?.unknown], [["input[0].id"], ["input[0].id"]]);
    assert.ok(references !== undefined);
    assert.equal(unknownReference(references)?.code, "previous_response_not_found");
  });
});
