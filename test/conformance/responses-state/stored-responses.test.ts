/**
 * Responses that were made before, read again, listed and deleted through the whole gateway: those that it keeps and
 * those that a provider keeps, for the key that made them and nobody else.
 */
import assert from "node:assert/strict";
import { type HttpAnswer, httpCall } from "#test/support/conformance/http-call";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecret,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { naturalReply } from "#test/support/conformance/natural-replies";
import { at, list } from "#test/support/digest/facts";
import { FakeUpstream, type ReceivedRequest, type ScriptedReply } from "#test/support/fake-upstream";
import { openaiGenerations } from "#test/support/official-clients";
import { publishedDocuments } from "#test/support/translation/published-schemas";
import { waitFor } from "#test/support/wait-for";

describe("responses that were made before", () => {
  let gateway: InProcessGateway;
  let upstream: FakeUpstream;

  before(async () => {
    upstream = await FakeUpstream.start();
    const requests = { name: "few", unit: "Requests", limit: "3", period: "Lifetime" };
    gateway = await InProcessGateway.start({
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("main"),
        keyManifest("thief"),
        keyManifest("few", { limits: [requests] }),
        keyManifest("single", { concurrency: { maxInFlight: 1 } }),
        channelManifest("translated", upstream.origin, { formats: [{ type: "Messages" }] }),
        routeManifest("translated"),
        channelManifest("native", upstream.origin, { formats: [{ type: "Responses" }] }),
        routeManifest("native"),
        channelManifest("by-query", upstream.origin, {
          formats: [{ type: "Responses" }],
          auth: { location: { query: "key" }, scheme: "Raw" },
        }),
        routeManifest("by-query"),
        channelManifest("limited", upstream.origin, {
          formats: [{ type: "Responses" }],
          limits: [{ name: "two", unit: "Requests", limit: "2", period: "Hour", algorithm: "FixedWindow" }],
        }),
        routeManifest("limited"),
        channelManifest("narrow", upstream.origin, {
          formats: [{ type: "Responses" }],
          concurrency: { maxInFlight: 1 },
        }),
        routeManifest("narrow"),
      ),
    });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });
  beforeEach(() => {
    upstream.forget();
    upstream.replyWith(reply);
  });

  /** A provider that keeps `resp_1` and nothing else. */
  function reply(request: ReceivedRequest): ScriptedReply {
    if (request.method === "POST") return naturalReply(request);
    if (!request.target.includes("/resp_1")) return { status: 404, body: '{"error":{"message":"no"}}' };
    if (request.method === "DELETE") return { body: '{"id":"resp_1","object":"response","deleted":true}' };
    return { body: JSON.stringify({ id: "resp_1", object: "response", from: "provider" }) };
  }

  function call(method: string, path: string, key = "main", body?: object): Promise<HttpAnswer> {
    return httpCall({
      origin: gateway.origin,
      method,
      path,
      headers: { authorization: `Bearer ${clientKey(key)}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async function create(model: string, changes: object = {}, key = "main"): Promise<{ id: string; response: unknown }> {
    const answer = await call("POST", "/v1/responses", key, { model, input: "one", ...changes });
    assert.equal(answer.status, 200, answer.body.toString());
    const response = answer.json();
    upstream.forget();
    return { id: String(at(response, "id")), response };
  }

  function assertNotFound(answer: HttpAnswer): void {
    assert.equal(answer.status, 404, answer.body.toString());
    assert.match(String(at(answer.json(), "error", "message")), /^Response with id '\w+' not found\.$/);
  }

  it("reads what the gateway keeps, as it was answered", async () => {
    const { id, response } = await create("translated", { store: true });
    const answer = await call("GET", `/v1/responses/${id}`);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.json(), response);
    assert.equal(upstream.requests.length, 0);
  });

  it("lists what came in, in pages, as published", async () => {
    const input = [
      { role: "user", content: "one" },
      { role: "assistant", content: "two" },
      { role: "user", content: [{ type: "input_text", text: "three" }] },
    ];
    const { id } = await create("translated", { input });
    const first = (await call("GET", `/v1/responses/${id}/input_items?limit=2`)).json();
    assert.deepEqual(
      list(at(first, "data")).map((item) => at(list(at(item, "content"))[0], "text")),
      ["three", "two"],
    );
    assert.equal(at(first, "has_more"), true);
    const rest = (await call("GET", `/v1/responses/${id}/input_items?after=${at(first, "last_id")}`)).json();
    assert.equal(list(at(rest, "data")).length, 1);
    for (const document of publishedDocuments() ?? []) {
      if (document.name === "openai") assert.deepEqual(document.inputList(first), []);
    }
  });

  it("deletes what the gateway keeps", async () => {
    const { id } = await create("translated");
    const answer = await call("DELETE", `/v1/responses/${id}`);
    assert.deepEqual(answer.json(), { id, object: "response", deleted: true });
    assertNotFound(await call("GET", `/v1/responses/${id}`));
    assertNotFound(await call("DELETE", `/v1/responses/${id}`));
    const next = await call("POST", "/v1/responses", "main", { model: "translated", previous_response_id: id });
    assert.equal(next.status, 400);
  });

  it("asks the provider that keeps it, with its own credential and none of the client's", async () => {
    const { id } = await create("native");
    const answer = await call("GET", `/v1/responses/${id}?secret=x`);
    assert.deepEqual(answer.json(), { id: "resp_1", object: "response", from: "provider" });
    const [asked] = upstream.requests;
    assert.equal(asked?.method, "GET");
    assert.equal(asked?.target, "/v1/responses/resp_1");
    assert.equal(asked?.headers["authorization"], `Bearer ${channelSecret}`);
  });

  it("asks with the credential where the channel wants it", async () => {
    const { id } = await create("by-query");
    await call("GET", `/v1/responses/${id}/input_items?limit=5`);
    assert.deepEqual(
      upstream.requests.map(({ target }) => target),
      [`/v1/responses/resp_1/input_items?limit=5&key=${channelSecret}`],
    );
  });

  it("lists and deletes at the provider", async () => {
    const { id } = await create("native");
    assert.equal((await call("GET", `/v1/responses/${id}/input_items?limit=5&order=asc&evil=1`)).status, 200);
    assert.equal((await call("DELETE", `/v1/responses/${id}`)).status, 200);
    assert.deepEqual(
      upstream.requests.map(({ method, target }) => `${method} ${target}`),
      ["GET /v1/responses/resp_1/input_items?limit=5&order=asc", "DELETE /v1/responses/resp_1"],
    );
    assertNotFound(await call("GET", `/v1/responses/${id}`));
  });

  for (const model of ["translated", "native"]) {
    it(`shows nothing of ${model} to another key, whatever it asks`, async () => {
      const { id } = await create(model);
      for (const [method, path] of [
        ["GET", `/v1/responses/${id}`],
        ["DELETE", `/v1/responses/${id}`],
        ["GET", `/v1/responses/${id}/input_items`],
      ] as const) {
        assertNotFound(await call(method, path, "thief"));
      }
      assert.equal(upstream.requests.length, 0);
      assert.equal((await call("GET", `/v1/responses/${id}`)).status, 200);
    });

    it(`keeps nothing of ${model} with store: false`, async () => {
      const { id } = await create(model, { store: false });
      // Another test's response of the same id was another call's.
      if (model === "translated") assertNotFound(await call("GET", `/v1/responses/${id}`));
      assert.equal(upstream.requests.length, 0);
    });
  }

  for (const { name, load } of openaiGenerations) {
    it(`is read, listed page by page, gone on from and deleted by ${name}`, async () => {
      const Client = load();
      const { responses } = new Client({ apiKey: clientKey("main"), baseURL: `${gateway.origin}/v1`, maxRetries: 0 });
      const input = Array.from({ length: 5 }, (_, index) => ({ role: "user" as const, content: `turn ${index}` }));
      const made = await responses.create({ model: "translated", input });
      const stream = responses.stream({ model: "translated", input: "more", previous_response_id: made.id });
      const next = await stream.finalResponse();
      assert.equal(next.previous_response_id, made.id);
      assert.equal((await responses.retrieve(next.id)).output_text, next.output_text);
      const texts: unknown[] = [];
      for await (const item of responses.inputItems.list(made.id, { limit: 2, order: "asc" })) {
        texts.push(at(list(at(item, "content"))[0], "text"));
      }
      assert.deepEqual(
        texts,
        input.map(({ content }) => content),
      );
      await responses.delete(made.id);
      await assert.rejects(responses.retrieve(made.id), { status: 404 });
    });
  }

  it("wants a key", async () => {
    const answer = await httpCall({ origin: gateway.origin, method: "GET", path: "/v1/responses/resp_1" });
    assert.equal(answer.status, 401);
  });

  it("costs a request where a provider is asked", async () => {
    const { id } = await create("native", {}, "few");
    for (const status of [200, 200, 429])
      assert.equal((await call("GET", `/v1/responses/${id}`, "few")).status, status);
    assert.equal(upstream.requests.length, 2);
  });

  it("takes a request of the channel's limits, and says when they are used up", async () => {
    const { id } = await create("limited");
    assert.equal((await call("GET", `/v1/responses/${id}`)).status, 200);
    const full = await call("GET", `/v1/responses/${id}`);
    assert.equal(full.status, 503, full.body.toString());
    assert.equal(at(full.json(), "error", "code"), "no_available_channel");
    assert.equal(upstream.requests.length, 1);
    assert.equal(gateway.ledger.openCount, 0);
  });

  /** Asks until nobody is refused any more, the provider answers only then. @returns statuses as they came */
  async function askAtOnce(model: string, key: string): Promise<number[]> {
    const { id } = await create(model, {}, key);
    const answered = Promise.withResolvers<void>();
    upstream.replyWith((request) => answered.promise.then(() => reply(request)));
    const statuses: number[] = [];
    const asked = Array.from({ length: 5 }, async () => {
      statuses.push((await call("GET", `/v1/responses/${id}`, key)).status);
    });
    await waitFor("all but one to be refused", () => statuses.length + upstream.requests.length === 5);
    answered.resolve();
    await Promise.all(asked);
    assert.equal((await call("GET", `/v1/responses/${id}`, key)).status, 200);
    return statuses;
  }

  it("is one of the key's requests in flight until the provider has answered", async () => {
    assert.deepEqual(await askAtOnce("native", "single"), [429, 429, 429, 429, 200]);
  });

  it("is one of the channel's requests in flight until the provider has answered", async () => {
    assert.deepEqual(await askAtOnce("narrow", "main"), [503, 503, 503, 503, 200]);
  });

  for (const model of ["translated", "native"]) {
    it(`is a use of the key (${model})`, async () => {
      const { id } = await create(model);
      const before = gateway.usedKeys.length;
      await call("GET", `/v1/responses/${id}`);
      assert.deepEqual(gateway.usedKeys.slice(before), ["default/main"]);
    });
  }

  it("does not stream again what was made before", async () => {
    const { id } = await create("translated");
    const answer = await call("GET", `/v1/responses/${id}?stream=true`);
    assert.equal(answer.status, 400);
    assert.equal(at(answer.json(), "error", "param"), "stream");
  });

  it("tells a provider's failure as its own, and a lost response as not found", async () => {
    const { id } = await create("native");
    upstream.replyWith({ status: 500, body: '{"error":{"message":"boom at 10.0.0.1"}}' });
    const failed = await call("GET", `/v1/responses/${id}`);
    assert.equal(failed.status, 502);
    assert.doesNotMatch(failed.body.toString(), /boom|10\.0/);
    upstream.replyWith({ status: 404, body: '{"error":{"message":"gone"}}' });
    assertNotFound(await call("GET", `/v1/responses/${id}`));
    upstream.replyWith({ body: "<html>" });
    assert.equal((await call("GET", `/v1/responses/${id}`)).status, 502);
  });
});
