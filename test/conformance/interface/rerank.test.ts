/** Rerank: one rule for the responses of upstreams of every dialect, in the form of the path that the client called. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useEndpointRig } from "#test/support/conformance/endpoint-rig";
import {
  channelManifest,
  channelSecret,
  clientKey,
  pairManifest,
  routeManifest,
} from "#test/support/conformance/manifests";
import { itOfRecordings } from "#test/support/conformance/other-recordings";
import {
  call,
  type Dialect,
  dialects,
  documents,
  replies,
  results,
  scriptOf,
} from "#test/support/conformance/rankings";
import { itRefusesRestrictedKeys, restrictedKeyManifests } from "#test/support/conformance/restricted-keys";
import { at } from "#test/support/digest/facts";
import { waitFor } from "#test/support/wait-for";

const priced = { inputPerMillion: "1", perSearch: "0.002" };
const capabilities = ["Rerank"];

function channel(dialect: Dialect, origin: string, spec: object = {}): object {
  return channelManifest(dialect.toLowerCase(), origin, {
    formats: [{ type: "Rerank", path: "/rerank", dialect }],
    models: [{ name: "*", upstreamName: "r-1" }],
    ...spec,
  });
}

describe("rerank", () => {
  const rig = useEndpointRig({
    path: "/v1/rerank",
    manifests: (origin, spare) => [
      ...restrictedKeyManifests,
      ...dialects.map((dialect) => channel(dialect, origin)),
      channelManifest("strict", origin, {
        formats: [{ type: "Rerank", path: "/rerank", dialect: "Cohere" }],
        unsupportedParameters: "Reject",
      }),
      channelManifest("spare", spare, { formats: [{ type: "Rerank" }] }),
      channelManifest("talker", origin),
      ...dialects.map((dialect) => routeManifest(dialect.toLowerCase(), { capabilities, price: priced })),
      routeManifest("strict", { capabilities }),
      routeManifest("talker", { capabilities }),
      routeManifest("chatter", { targets: [{ name: "main", channelRef: { name: "jina" } }] }),
      pairManifest("both", ["jina", "spare"], { capabilities }),
    ],
  });

  async function ranked(body: object, path = "/v1/rerank"): Promise<Record<string, unknown>> {
    const answer = await rig.call(body, { path });
    assert.equal(answer.status, 200, answer.body.toString());
    assert.equal(answer.header("content-type"), "application/json");
    return JSON.parse(answer.body.toString());
  }

  async function costOf(body: object): Promise<readonly unknown[]> {
    const answer = await rig.call(body);
    assert.equal(answer.status, 200, answer.body.toString());
    const { usage, costNanos, isEstimated } = await rig.recordOf(answer);
    return [usage?.input, usage?.searches, costNanos, isEstimated];
  }

  const withDocuments = results.map((result) => ({ ...result, document: { text: documents[result.index] } }));

  describe("what the client gets", () => {
    for (const path of ["/v1/rerank", "/rerank", "/v1/v1/rerank"]) {
      for (const dialect of dialects) {
        it(`POST ${path} gives Jina's form of a ranking by ${dialect}, sorted, with documents`, async () => {
          rig.upstream.replyWith(scriptOf(replies[dialect]));
          const got = await ranked({ model: dialect.toLowerCase(), return_documents: true, ...call }, path);
          assert.deepEqual(got["results"], withDocuments);
          assert.equal(got["object"], "list");
          assert.equal(got["model"], dialect === "Jina" || dialect === "Voyage" ? "r-1" : dialect.toLowerCase());
          assert.equal(at(got, "usage", "total_tokens"), dialect === "TEI" ? 0 : 30);
          assert.equal(typeof got["id"], "string");
          assert.equal(at(got, "meta", "billed_units", "search_units"), dialect === "Cohere" ? 2 : 1);
        });
      }
    }

    for (const dialect of dialects) {
      it(`POST /v2/rerank gives Cohere's form of a ranking by ${dialect}, clipped`, async () => {
        rig.upstream.replyWith(scriptOf(replies[dialect]));
        const got = await ranked({ model: dialect.toLowerCase(), top_n: 2, ...call }, "/v2/rerank");
        assert.deepEqual(got["results"], results.slice(0, 2));
        assert.equal(typeof got["id"], "string");
        assert.equal(at(got, "meta", "billed_units", "search_units"), dialect === "Cohere" ? 2 : 1);
        if (dialect !== "TEI") assert.equal(at(got, "meta", "tokens", "input_tokens"), 30);
        if (dialect !== "Cohere") assert.deepEqual(Object.keys(got), ["id", "results", "meta"]);
      });
    }

    it("passes a reply of the client's form that keeps the rule, with every byte of it", async () => {
      const cohere = `{ "id":"c1", "results" : [{"index":2,"relevance_score":0.90}], "meta":{"x":1.0} }`;
      rig.upstream.replyWith({ body: cohere });
      const answer = await rig.call({ model: "cohere", ...call }, { path: "/v2/rerank" });
      assert.equal(answer.body.toString(), cohere);
      const jina = `"model" : "m", "usage":{"total_tokens":3}, "results" : [{"index":2,"relevance_score":0.90, "v":1}]}`;
      rig.upstream.replyWith({ body: `{ ${jina}` });
      const text = (await rig.call({ model: "jina", ...call })).body.toString();
      assert.ok(text.endsWith(` ${jina}`), text);
      assert.deepEqual(Object.keys(JSON.parse(text)), ["id", "meta", "model", "usage", "results"]);
      rig.upstream.replyWith({ body: `{"id":"v1","meta":{},${jina}` });
      assert.equal((await rig.call({ model: "jina", ...call })).body.toString(), `{"id":"v1","meta":{},${jina}`);
    });

    it("keeps what a reply of the client's form says beside, where results must be sorted or clipped", async () => {
      const items = [
        { index: 0, relevance_score: 0.1, logit: 3 },
        { index: 1, relevance_score: 0.5, logit: 4 },
      ];
      rig.upstream.replyWith(scriptOf({ model: "m", results: items, usage: { total_tokens: 9 }, extra: [1] }));
      const got = await ranked({ model: "jina", top_n: 1, ...call });
      assert.deepEqual(got["results"], [items[1]]);
      assert.deepEqual([got["extra"], got["usage"], typeof got["id"]], [[1], { total_tokens: 9 }, "string"]);
    });

    it("leaves documents to an upstream of Jina's form unless the client says so, and takes out unwanted ones", async () => {
      const item = { index: 1, relevance_score: 0.5 };
      const told = { ...item, document: { text: "as told" } };
      for (const [sent, wants, want] of [
        [item, undefined, item],
        [told, undefined, told],
        [told, true, told],
        [told, false, item],
        [item, true, { ...item, document: { text: documents[1] } }],
      ] as const) {
        rig.upstream.replyWith(scriptOf({ model: "m", results: [sent] }));
        const got = await ranked({ model: "jina", return_documents: wants, ...call });
        assert.deepEqual(got["results"], [want]);
      }
    });

    it("gives documents that are objects back as they were sent", async () => {
      const objects = [{ text: "one", id: 7 }, { image: "https://example.com/a.png" }, "three"];
      rig.upstream.replyWith(scriptOf(replies.TEI));
      const got = await ranked({ model: "tei", query: "q", documents: objects });
      assert.deepEqual(at(got, "results", 0, "document"), { text: "three" });
      assert.deepEqual(at(got, "results", 1, "document"), objects[0]);
      assert.deepEqual(at(got, "results", 2, "document"), objects[1]);
    });
  });

  for (const [param, body] of [
    ["query", { query: { image: "data:image/png;base64,AAAA" }, documents }],
    ["documents", { query: "q", documents: ["a", { text: "b", image: "AAAA" }] }],
  ] as const) {
    it(`refuses an image in '${param}' where only texts are read, and passes it where images are`, async () => {
      const refused = await rig.call({ model: "cohere", ...body });
      assert.equal(refused.status, 400);
      assert.deepEqual(
        [at(refused.json(), "error", "code"), at(refused.json(), "error", "param")],
        ["unsupported_parameter", param],
      );
      assert.equal(rig.upstream.requests.length, 0);
      rig.upstream.replyWith(scriptOf({ results: [{ index: 0, relevance_score: 0.5 }] }));
      assert.equal((await rig.call({ model: "jina", ...body })).status, 200);
      assert.deepEqual(at(rig.upstream.requests[0]?.json(), param), body[param]);
    });
  }

  describe("what the upstream gets", () => {
    const mixed = [{ text: "one", id: 7 }, { page: 2 }, "three"];
    const asText = ["one", '{"page":2}', "three"];
    for (const row of [
      {
        name: "Jina: the client's body under the upstream's name",
        model: "jina",
        body: { documents: mixed, return_documents: false, max_chunks: 3 },
        want: { model: "r-1", query: "q", documents: mixed, return_documents: false, max_chunks: 3 },
      },
      {
        name: "Jina: no more results than documents",
        model: "jina",
        body: { documents: mixed, top_n: 9 },
        want: { model: "r-1", query: "q", documents: mixed, top_n: 3 },
      },
      {
        name: "Jina, for a Cohere client: without Cohere's own members, and without documents in the reply",
        model: "jina",
        path: "/v2/rerank",
        body: { documents, max_tokens_per_doc: 100, priority: 1, top_n: 2 },
        want: { model: "r-1", query: "q", documents, top_n: 2, return_documents: false },
        dropped: "max_tokens_per_doc, priority",
      },
      {
        name: "Cohere: texts, and no wish for documents",
        model: "cohere",
        body: { documents: mixed, return_documents: true, truncate: "END", max_tokens_per_doc: 9 },
        want: { model: "r-1", query: "q", documents: asText, max_tokens_per_doc: 9 },
        dropped: "truncate",
      },
      {
        name: "Cohere, for a Cohere client: what it may add",
        model: "cohere",
        path: "/v2/rerank",
        body: { documents, new_field: { deep: 1.5 } },
        want: { model: "r-1", query: "q", documents, new_field: { deep: 1.5 } },
      },
      {
        name: "Voyage: its own name for the number of results",
        model: "voyage",
        body: { documents: mixed, top_n: 2, return_documents: true, truncation: false },
        want: { model: "r-1", query: "q", documents: asText, truncation: false, top_k: 2 },
      },
      {
        name: "TEI: texts without a model",
        model: "tei",
        body: { documents: mixed, top_n: 2, truncate: true },
        want: { query: "q", truncate: true, texts: asText },
      },
    ]) {
      it(row.name, async () => {
        rig.upstream.replyWith(scriptOf(replies.TEI));
        const answer = await rig.call(
          { model: row.model, query: "q", ...row.body },
          { path: row.path ?? "/v1/rerank" },
        );
        assert.equal(answer.status, 200, answer.body.toString());
        const [sent] = rig.upstream.requests;
        assert.equal(sent?.target, "/v1/rerank");
        assert.equal(sent?.headers["authorization"], `Bearer ${channelSecret}`);
        assert.deepEqual(sent?.json(), row.want);
        assert.equal(answer.header("x-tollgate-dropped"), row.dropped);
      });
    }

    it("refuses a member that the upstream would not get, where its channel says so", async () => {
      const answer = await rig.call({ model: "strict", truncate: "END", ...call });
      assert.equal(answer.status, 400);
      assert.equal(at(answer.json(), "error", "param"), "truncate");
      assert.equal(rig.upstream.requests.length, 0);
    });
  });

  describe("what it costs", () => {
    // 1 credit a million tokens, 0.002 credits a search.
    for (const row of [
      { name: "Cohere's searches and tokens", dialect: "Cohere", want: [30, 2, 4_030_000n, false] },
      {
        name: "Jina's tokens, and a search for up to 100 documents",
        dialect: "Jina",
        want: [30, 1, 2_030_000n, false],
      },
      { name: "Voyage's tokens", dialect: "Voyage", want: [30, 1, 2_030_000n, false] },
    ] as const) {
      it(`charges ${row.name}`, async () => {
        rig.upstream.replyWith(scriptOf(replies[row.dialect]));
        assert.deepEqual(await costOf({ model: row.dialect.toLowerCase(), ...call }), row.want);
      });
    }

    it("counts a search for each 100 documents where the upstream tells none", async () => {
      const many = Array.from({ length: 101 }, (_, index) => `document ${index}`);
      rig.upstream.replyWith(scriptOf({ model: "m", results: results.slice(0, 1), usage: { total_tokens: 1_000 } }));
      assert.deepEqual(await costOf({ model: "jina", query: "q", documents: many }), [1_000, 2, 5_000_000n, false]);
    });

    it("counts the tokens where the upstream tells none: the query again with each document", async () => {
      rig.upstream.replyWith(scriptOf(replies.TEI));
      const [input, searches, costNanos, isEstimated] = await costOf({ model: "tei", ...call });
      assert.ok(typeof input === "number" && input >= 15 && input <= 22, `${input} tokens`);
      assert.deepEqual([searches, costNanos, isEstimated], [1, 2_000_000n + BigInt(input) * 1_000n, true]);
    });

    it("charges what was sent to an upstream that broke off, and nothing of one that refused", async () => {
      rig.upstream.replyWith({ body: JSON.stringify(replies.Jina), framing: "length", stallAt: 20 });
      const leaving = new AbortController();
      const left = fetch(`${rig.gateway.origin}/v1/rerank`, {
        method: "POST",
        headers: { authorization: `Bearer ${clientKey("k")}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "jina", ...call }),
        signal: leaving.signal,
      });
      const known = rig.gateway.records.length;
      await waitFor("the call to arrive", () => rig.upstream.requests.length === 1);
      leaving.abort();
      await assert.rejects(left);
      await waitFor("the upstream to be left", () => rig.upstream.requests[0]?.abortedAtMs);
      const record = await waitFor("the record", () => rig.gateway.records[known]);
      assert.equal(record.isEstimated, true);
      assert.ok((record.costNanos ?? 0n) > 2_000_000n, `${record.costNanos}`);
      rig.upstream.replyWith({ status: 400, body: '{"detail":"no"}' });
      const refused = await rig.call({ model: "jina", ...call });
      const refusal = await rig.gateway.recordOf(String(refused.header("x-request-id")));
      assert.equal(refusal.costNanos ?? 0n, 0n);
    });
  });

  describe("what is refused before any upstream is called", () => {
    for (const row of [
      { name: "without a query", body: { documents }, param: "query" },
      { name: "with an empty query", body: { query: "", documents }, param: "query" },
      { name: "with a number as query", body: { query: 4, documents }, param: "query" },
      { name: "without documents", body: { query: "q" }, param: "documents" },
      { name: "with no document", body: { query: "q", documents: [] }, param: "documents" },
      { name: "with documents as text", body: { query: "q", documents: "a" }, param: "documents" },
      { name: "with a number as document", body: { query: "q", documents: ["a", 1] }, param: "documents[1]" },
      { name: "with too many documents", body: { query: "q", documents: Array(10_001).fill("a") }, param: "documents" },
      { name: "with top_n 0", body: { ...call, top_n: 0 }, param: "top_n" },
      { name: "with top_n -1", body: { ...call, top_n: -1 }, param: "top_n" },
      { name: "with half a result", body: { ...call, top_n: 1.5 }, param: "top_n" },
      {
        name: "with a word for return_documents",
        body: { ...call, return_documents: "yes" },
        param: "return_documents",
      },
      { name: "of a model for chat", body: { ...call, model: "chatter" }, param: "model" },
      { name: "of a channel without the format", body: { ...call, model: "talker" }, param: "model" },
    ]) {
      it(`a call ${row.name}`, async () => {
        const answer = await rig.call({ model: "jina", ...row.body });
        assert.equal(answer.status, 400, answer.body.toString());
        assert.equal(at(answer.json(), "error", "param"), row.param);
        assert.equal(rig.upstream.requests.length, 0);
      });
    }
  });

  describe("restrictions", () => {
    before(() => rig.upstream.replyWith(scriptOf(replies.Jina)));
    itRefusesRestrictedKeys(
      (key) => rig.call({ model: "jina", ...call }, { key }),
      () => rig.upstream,
    );
  });

  describe("upstreams that misbehave", () => {
    const whole = JSON.stringify(replies.Jina);
    for (const row of [
      { name: "an error body under a status of success", script: { body: '{"error":{"message":"no"}}' } },
      { name: "results beside an error", script: scriptOf({ error: "no", results }) },
      { name: "a page of HTML", script: { body: "<html>", headers: { "content-type": "text/html" } } },
      { name: "nothing", script: { body: "" } },
      { name: "JSON that is no ranking", script: { body: "[]" } },
      { name: "a ranking of nothing", script: scriptOf({ results: [] }) },
      { name: "an index twice", script: scriptOf({ results: [results[0], results[0]] }) },
      { name: "an index of no document", script: scriptOf({ results: [{ index: 3, relevance_score: 1 }] }) },
      { name: "a negative index", script: scriptOf({ results: [{ index: -1, relevance_score: 1 }] }) },
      { name: "an index that is text", script: scriptOf({ results: [{ index: "1", relevance_score: 1 }] }) },
      { name: "a result without a score", script: scriptOf({ results: [{ index: 1 }] }) },
      { name: "a score that no number holds", script: { body: '{"results":[{"index":1,"relevance_score":1e999}]}' } },
      { name: "a reply that is cut", script: { body: whole, framing: "length", cutAt: 20 } },
      { name: "a status of 500", script: { status: 500, body: "oops" } },
    ] as const) {
      it(`never passes ${row.name} as a ranking`, async () => {
        rig.upstream.replyWith(row.script);
        const answer = await rig.call({ model: "jina", ...call });
        assert.ok(answer.status >= 400, `${answer.status}`);
        assert.equal(typeof at(answer.json(), "error", "message"), "string");
      });
    }

    it("asks the next target where the first fails", async () => {
      rig.upstream.replyWith({ status: 503, body: "{}" });
      rig.spare.replyWith(scriptOf(replies.Jina));
      const got = await ranked({ model: "both", ...call });
      assert.equal(at(got, "results", 0, "index"), 2);
      assert.deepEqual([rig.upstream.requests.length, rig.spare.requests.length], [1, 1]);
    });
  });

  describe("recorded replies", () => {
    itOfRecordings(
      "Cohere's is passed to a Cohere client, and its searches are charged",
      ["cohere-rerank.request.json", "cohere-rerank.json"],
      async (request = Buffer.alloc(0), reply = Buffer.alloc(0)) => {
        rig.upstream.replyWith({ body: reply });
        const body = { ...JSON.parse(request.toString()), model: "cohere" };
        const answer = await rig.call(body, { path: "/v2/rerank" });
        assert.deepEqual(answer.body, reply);
        const record = await rig.recordOf(answer);
        assert.equal(record.usage?.searches, 1);
      },
    );
    itOfRecordings("Voyage's is told in Jina's form", ["voyage-rerank.json"], async (reply = Buffer.alloc(0)) => {
      rig.upstream.replyWith({ body: reply });
      const got = await ranked({ model: "voyage", query: "q", documents: ["a", "b"] });
      assert.equal(at(got, "results", 0, "index"), 1);
      assert.equal(at(got, "usage", "total_tokens"), 12);
    });
  });
});
