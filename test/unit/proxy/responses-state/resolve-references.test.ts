import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import { asList, type JsonObject, member } from "#proxy/json/json-value";
import { authorizedResponses } from "#proxy/responses-state/authorized-responses";
import { localResponse, mayKeep, nativeResponse } from "#proxy/responses-state/keep-response";
import { deletedResponse, listInputItems } from "#proxy/responses-state/list-items";
import {
  findResponse,
  hasReferences,
  type Resolution,
  resolveReferences,
} from "#proxy/responses-state/resolve-references";
import { defaultStoreLimits } from "#proxy/responses-state/response-store";
import { MemoryResponses } from "#proxy/responses-state/store/memory-responses";
import type { LocalResponse } from "#proxy/responses-state/stored-response";
import { refusalOf } from "#test/support/calls/read-body";

const owner = "ns/key";
const nowMs = 1_000;

function newIds(): (prefix: string) => string {
  let count = 0;
  return (prefix) => {
    count += 1;
    return `${prefix}new${count}`;
  };
}

function kept(body: object, id: string, output: readonly object[]): LocalResponse {
  const response = { id, model: "m", status: "completed", output };
  const made = localResponse({ ...body }, response, { nowMs, model: "m", newId: newIds() });
  assert.ok(made !== undefined);
  return made;
}

const message = (id: string, text: string) => ({
  type: "message",
  id,
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
});

/** A conversation of two turns kept here, and a response that a provider keeps. */
function storeWithBoth(): MemoryResponses {
  const store = new MemoryResponses({ limits: defaultStoreLimits, now: () => nowMs });
  store.keep(owner, kept({ input: "one" }, "resp_1", [message("msg_a", "ONE")]));
  store.keep(
    owner,
    kept({ input: [{ role: "user", content: "two" }], previous_response_id: "resp_1" }, "resp_2", [
      { type: "reasoning", id: "rs_b", summary: [], encrypted_content: "tg1.A.B" },
      { type: "function_call", id: "fc_b", call_id: "call_b", name: "f", arguments: "{}", status: "completed" },
    ]),
  );
  for (const [id, channel, credential] of [
    ["resp_n", "ns/native", "main"],
    ["resp_o", "ns/other", "main"],
  ] as const) {
    const native = nativeResponse({}, { id }, [{ id: `msg_${id}` }], { nowMs, model: "m", channel, credential });
    if (native !== undefined) store.keep(owner, native);
  }
  return store;
}

function resolve(body: JsonObject, by = owner): Promise<Resolution> {
  return resolveReferences(body, by, storeWithBoth());
}

describe("resolveReferences()", () => {
  it("puts the whole conversation into a call that goes on from it", async () => {
    const { body, affinity, unknown } = await resolve({
      model: "m",
      instructions: "new",
      previous_response_id: "resp_2",
      input: [{ type: "function_call_output", call_id: "call_b", output: "1" }],
    });
    assert.deepEqual(body, {
      model: "m",
      instructions: "new",
      input: [
        { type: "message", role: "user", content: [{ type: "input_text", text: "one" }] },
        {
          type: "message",
          role: "assistant",
          content: [{ type: "output_text", text: "ONE", annotations: [], logprobs: [] }],
        },
        { type: "message", role: "user", content: [{ type: "input_text", text: "two" }] },
        { type: "reasoning", id: "rs_b", summary: [], encrypted_content: "tg1.A.B" },
        { type: "function_call", call_id: "call_b", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "call_b", output: "1" },
      ],
    });
    assert.equal(affinity, undefined);
    assert.deepEqual(unknown, []);
  });

  it("takes a text, or nothing, as what the call adds", async () => {
    const text = await resolve({ model: "m", previous_response_id: "resp_1", input: "more" });
    const items = text.body["input"];
    assert.deepEqual(Array.isArray(items) ? items.at(-1) : items, { role: "user", content: "more" });
    const nothing = await resolve({ model: "m", previous_response_id: "resp_1" });
    assert.equal(Array.isArray(nothing.body["input"]) ? nothing.body["input"].length : 0, 2);
  });

  it("binds a call to the channel and credential that keep what it goes on from", async () => {
    const given = { model: "m", previous_response_id: "resp_n", input: "more" };
    const { body, affinity } = await resolve(given);
    assert.equal(body, given);
    assert.deepEqual(affinity, { channel: "ns/native", credential: "main" });
  });

  it("replaces a reference to an item that is kept here", async () => {
    const { body, affinity } = await resolve({
      model: "m",
      input: [
        { type: "item_reference", id: "msg_a" },
        { role: "user", content: "x" },
      ],
    });
    assert.deepEqual(body["input"], [
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "ONE", annotations: [], logprobs: [] }],
      },
      { role: "user", content: "x" },
    ]);
    assert.equal(affinity, undefined);
  });

  it("leaves a reference to an item that a provider keeps, and binds the call to it", async () => {
    const given = { model: "m", input: [{ id: "msg_resp_n" }] };
    const { body, affinity } = await resolve(given);
    assert.equal(body, given);
    assert.deepEqual(affinity, { channel: "ns/native", credential: "main" });
  });

  it("names what nobody here knows", async () => {
    const { unknown } = await resolve({
      model: "m",
      previous_response_id: "resp_x",
      input: [
        { role: "user", content: "x" },
        { type: "item_reference", id: "msg_x" },
      ],
    });
    assert.deepEqual(unknown, ["previous_response_id", "input[1].id"]);
  });

  for (const id of ["resp_1", "resp_n"]) {
    it(`shows ${id} to no other key`, async () => {
      const { body, affinity, unknown } = await resolve(
        { model: "m", previous_response_id: id, input: "x" },
        "ns/thief",
      );
      assert.equal(affinity, undefined);
      assert.deepEqual(unknown, ["previous_response_id"]);
      assert.deepEqual(body["input"], "x");
    });
  }

  it("binds a picture made earlier to the channel that made it, for its own key alone", async () => {
    const input = [{ type: "image_generation_call", id: "msg_resp_n" }];
    const own = await resolve({ model: "m", input });
    assert.deepEqual([own.affinity?.channel, own.unknown], ["ns/native", []]);
    const other = await resolve({ model: "m", input }, "ns/thief");
    assert.deepEqual([other.affinity, other.unknown], [undefined, ["input[0].id"]]);
  });

  it("shows no item to another key", async () => {
    const { unknown } = await resolve({ model: "m", input: [{ type: "item_reference", id: "msg_a" }] }, "ns/thief");
    assert.deepEqual(unknown, ["input[0].id"]);
  });

  for (const reference of [{ type: "item_reference", id: "msg_a" }, { id: "msg_a" }, { type: null, id: "msg_a" }]) {
    it(`goes on from a turn that referred to an item: ${JSON.stringify(reference)}`, async () => {
      const store = storeWithBoth();
      store.keep(owner, kept({ input: [reference] }, "resp_3", [message("msg_c", "THREE")]));
      const next = { model: "m", previous_response_id: "resp_3", input: "x" };
      const { body, unknown } = await resolveReferences(next, owner, store);
      assert.deepEqual(unknown, []);
      const parts = asList(body["input"]).map((item) => asList(member(item, "content"))[0]);
      assert.deepEqual(
        parts.map((part) => member(part, "text")),
        ["ONE", "THREE", undefined],
      );
    });
  }

  it("gives nobody an item by a turn that only referred to it", async () => {
    const store = storeWithBoth();
    store.keep(owner, kept({ input: [{ type: "item_reference", id: "msg_theirs" }] }, "resp_3", []));
    const { unknown } = await resolveReferences({ model: "m", input: [{ id: "msg_theirs" }] }, owner, store);
    assert.deepEqual(unknown, ["input[0].id"]);
    const next = { model: "m", previous_response_id: "resp_3", input: "x" };
    assert.deepEqual((await resolveReferences(next, owner, store)).unknown, ["previous_response_id"]);
  });

  it("refuses a call that goes on from two providers at once", async () => {
    await assert.rejects(
      resolve({ model: "m", previous_response_id: "resp_n", input: [{ id: "msg_resp_o" }] }),
      (error) => error instanceof GatewayError && error.code === "previous_response_not_found",
    );
  });

  it("refuses a conversation whose beginning is gone", async () => {
    const store = storeWithBoth();
    await store.remove(owner, "resp_1");
    await assert.rejects(
      resolveReferences({ model: "m", previous_response_id: "resp_2", input: "x" }, owner, store),
      (error) => error instanceof GatewayError && error.param === "previous_response_id",
    );
  });

  for (const row of [
    { name: "a text", body: { input: "x" }, want: false },
    { name: "messages with ids", body: { input: [{ role: "user", id: "msg_1", content: "x" }] }, want: false },
    { name: "an earlier response", body: { input: "x", previous_response_id: "r" }, want: true },
    { name: "null for one", body: { input: "x", previous_response_id: null }, want: false },
    { name: "a reference", body: { input: [{ type: "item_reference", id: "i" }] }, want: true },
    { name: "a reference without its type", body: { input: [{ id: "i" }] }, want: true },
    { name: "a reference of type null", body: { input: [{ type: null, id: "i" }] }, want: true },
    { name: "a reference of role null", body: { input: [{ id: "i", role: null }] }, want: true },
    { name: "a reference of neither", body: { input: { type: null, role: null, id: "i" } }, want: true },
    { name: "a message of type null", body: { input: [{ type: null, role: "user", id: "i" }] }, want: false },
    { name: "a lone reference", body: { input: { type: "item_reference", id: "i" } }, want: true },
    { name: "a picture made earlier", body: { input: [{ type: "image_generation_call", id: "i" }] }, want: true },
    {
      name: "a picture that comes with itself",
      body: { input: { type: "image_generation_call", id: "i", result: "AAAA" } },
      want: false,
    },
  ]) {
    it(`${row.want ? "has" : "has nothing"} to find in ${row.name}`, () =>
      assert.equal(hasReferences(row.body), row.want));
  }
});

describe("authorizedResponses()", () => {
  it("asks for the leave to every link that a provider goes on from", async () => {
    const store = new MemoryResponses({ limits: defaultStoreLimits, now: () => nowMs });
    const place = { channel: "ns/native", credential: "main" };
    for (const [id, model, previous] of [
      ["resp_x", "denied", undefined],
      ["resp_y", "allowed", "resp_x"],
    ] as const) {
      const body = previous === undefined ? {} : { previous_response_id: previous };
      const native = nativeResponse(body, { id }, [], { nowMs, model, ...place });
      assert.ok(native !== undefined);
      store.keep(owner, native);
    }
    const seen: string[] = [];
    const reader = authorizedResponses(store, (model) => seen.push(model));
    await resolveReferences({ previous_response_id: "resp_y", input: "on" }, owner, reader);
    assert.deepEqual([...new Set(seen)].sort(), ["allowed", "denied"]);
  });
});

describe("what is kept of a response", () => {
  for (const row of [
    { name: "keeps by default", body: {}, policy: "PassThrough", want: true },
    { name: "keeps when asked to", body: { store: true }, policy: "PassThrough", want: true },
    { name: "keeps nothing with store: false", body: { store: false }, policy: "PassThrough", want: false },
    { name: "keeps nothing where the channel forbids it", body: { store: true }, policy: "ForceFalse", want: false },
  ] as const) {
    it(row.name, () => assert.equal(mayKeep(row.body, row.policy), row.want));
  }

  it("is nothing of a response that failed, or that its provider did not store", () => {
    assert.equal(localResponse({}, { id: "r", status: "failed" }, { nowMs, model: "m", newId: newIds() }), undefined);
    const context = { nowMs, model: "m", channel: "ns/c", credential: undefined };
    assert.equal(nativeResponse({}, { id: "r", store: false }, [], context), undefined);
    assert.equal(nativeResponse({}, {}, [], context), undefined);
  });

  it("gives every item that came in an id, and keeps those that have one", () => {
    const { input } = kept(
      {
        input: [
          { role: "user", content: "a" },
          { role: "assistant", content: "b" },
          { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
          { type: "function_call_output", id: "own", call_id: "c", output: "1" },
        ],
      },
      "r",
      [],
    );
    assert.deepEqual(
      input.map(({ id, type }) => [id, type]),
      [
        ["msg_new1", "message"],
        ["msg_new2", "message"],
        ["fc_new3", "function_call"],
        ["own", "function_call_output"],
      ],
    );
  });
});

describe("a kept response, asked for again", () => {
  it("is found for its key", async () => {
    assert.equal((await findResponse(owner, "resp_1", storeWithBoth())).id, "resp_1");
  });

  for (const [by, id] of [
    ["ns/thief", "resp_1"],
    [owner, "resp_x"],
    [owner, "<script>"],
  ] as const) {
    it(`is not found by ${by} as ${id}`, async () => {
      await assert.rejects(findResponse(by, id, storeWithBoth()), (error) => {
        assert.ok(error instanceof GatewayError);
        assert.doesNotMatch(error.message, /<|thief|ns\//);
        return error.code === "unknown_url";
      });
    });
  }

  const many = kept(
    { input: Array.from({ length: 25 }, (_, index) => ({ role: "user", id: `i${index}`, content: "x" })) },
    "r",
    [],
  );
  const ids = (page: JsonObject): unknown => (Array.isArray(page["data"]) ? page["data"].map(({ id }) => id) : page);

  it("lists its input, newest first, in pages", () => {
    const page = listInputItems(many, { limit: undefined, order: undefined, after: undefined });
    assert.deepEqual([page["first_id"], page["last_id"], page["has_more"]], ["i24", "i5", true]);
    const next = listInputItems(many, { limit: "3", order: undefined, after: "i5" });
    assert.deepEqual(ids(next), ["i4", "i3", "i2"]);
    const last = listInputItems(many, { limit: "100", order: "asc", after: "i23" });
    assert.deepEqual([ids(last), last["has_more"]], [["i24"], false]);
  });

  for (const row of [
    { name: "a limit of 0", question: { limit: "0", order: undefined, after: undefined }, want: "invalid_value limit" },
    {
      name: "a limit of 101",
      question: { limit: "101", order: undefined, after: undefined },
      want: "invalid_value limit",
    },
    {
      name: "another order",
      question: { limit: undefined, order: "random", after: undefined },
      want: "invalid_value order",
    },
  ]) {
    it(`refuses ${row.name}`, () =>
      assert.equal(
        refusalOf(() => listInputItems(many, row.question)),
        row.want,
      ));
  }

  it("says that it was deleted", () =>
    assert.deepEqual(deletedResponse("resp_1"), { id: "resp_1", object: "response", deleted: true }));
});
