/**
 * docs/design/reliability.md A7, A8, A12, A13 and A15 on the wire: which keys live, in which order requests are judged,
 * what lists show.
 */
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "mocha";
import type { RawResponse } from "#test/support/raw-client";
import { RawClient } from "#test/support/raw-client";
import { startGateway } from "#test/support/start-gateway";
import { within } from "#test/support/wait-for";
import { chatBody, goodRequest, rawRequest, refusedBody } from "./rig/raw-request.ts";
import { assertNoSecret, checkRefusal, errorCode, expectServed, figure, type Rig, useRig } from "./rig/rig.ts";
import { type ClientKey, clientKeys, models, rigManifests } from "./rig/rig-manifests.ts";

describe("keys, order and lists", () => {
  const rig = useRig();

  describe("A7: keys that do not live", () => {
    const dead: readonly ClientKey[] = ["unknown", "suspended", "expired", "early"];
    for (const name of dead) {
      it(`refuses a key that is ${name}`, () =>
        checkRefusal(rig(), {
          name,
          bytes: rawRequest({ key: clientKeys[name] }),
          status: 401,
          code: "invalid_api_key",
          connection: "open",
        }));
    }

    for (const [name, target] of [
      ["A", "/v1/chat/completions"],
      ["B", "/v1/messages"],
      ["C", "/v1beta/models/open-a:generateContent"],
    ] as const) {
      it(`${name}: answers all of them alike`, async () => {
        const answers = await Promise.all(
          dead.map((key) => rig().exchange(rawRequest({ target, key: clientKeys[key] }))),
        );
        const [first, ...others] = answers.map(withoutIds);
        // Whoever holds the secret of an expired key may learn that: Google's clients look for the reason.
        for (const other of others) assert.equal(other.replace("API_KEY_EXPIRED", "API_KEY_INVALID"), first);
      });
    }

    it("takes as long for an unknown key as for a suspended one", async function () {
      this.timeout(20_000);
      const tries = 3;
      for (let attempt = 1; attempt <= tries; attempt += 1) {
        const t = Math.abs(await compareTimes(rig(), clientKeys.unknown, clientKeys.suspended, 1_500));
        figure("A7 Welch t, unknown and suspended", t, 4.5, "");
        if (t < 9) return;
        assert.ok(attempt < tries, `t = ${t} in the last try`);
      }
    });
  });

  describe("A8: one connection, many keys", () => {
    it("decides for each request", async () => {
      const client = await rig().connect();
      for (const [key, status] of [
        [clientKeys.good, 200],
        [null, 401],
        [clientKeys.other, 200],
        [clientKeys.suspended, 401],
        [clientKeys.good, 200],
      ] as const) {
        client.write(rawRequest({ key, body: chatBody() }));
        assert.equal((await client.readResponse()).status, status);
      }
      client.close();
    });

    it("mixes nothing up in pipelines of 50", async function () {
      this.timeout(20_000);
      for (let round = 0; round < 10; round += 1) {
        const client = await rig().connect();
        const isGood = Array.from({ length: 50 }, (_, index) => (index * 7 + round) % 3 !== 0);
        const requests = isGood.map((good, index) =>
          good
            ? goodRequest(`mark-${round}-${index}`)
            : rawRequest({ key: index % 2 === 0 ? null : clientKeys.unknown }),
        );
        client.write(Buffer.concat(requests));
        for (const [index, good] of isGood.entries()) {
          if (good) await expectServed(rig(), client, `mark-${round}-${index}`);
          else assert.equal((await client.readResponse()).status, 401);
        }
        client.close();
      }
    });
  });

  describe("A13: the first stage that fails answers, in all 16 combinations", () => {
    for (let combination = 0; combination < 16; combination += 1) {
      const [isBadKey, isForbidden, isSpent, isBadBody] = [8, 4, 2, 1].map((bit) => (combination & bit) !== 0);
      const name = ["bad key", "forbidden model", "over quota", "bad body"]
        .filter((_, index) => (combination & (8 >> index)) !== 0)
        .join(", ");
      it(`of ${name === "" ? "nothing wrong" : name}`, async () => {
        // Spends its one request of the day, if that has not happened yet.
        await rig().exchange(rawRequest({ key: clientKeys.spent, body: chatBody() }));
        const key = isBadKey ? clientKeys.unknown : isSpent ? clientKeys.spent : clientKeys.unspent;
        const text = chatBody(isForbidden ? "closed" : "open-a");
        const body = isBadBody ? text.slice(0, -1) : text;
        const expected = isBadKey
          ? [401, "invalid_api_key"]
          : isBadBody
            ? [400, "invalid_json"]
            : isForbidden
              ? [403, "model_not_allowed"]
              : isSpent
                ? [429, "insufficient_quota"]
                : [200, undefined];
        const count = rig().upstream.requests.length;
        const response = await rig().exchange(rawRequest({ key, body }));
        assertNoSecret(response);
        const code = response.status === 200 ? undefined : errorCode(response);
        assert.deepEqual([response.status, code], expected, response.body.toString());
        assert.equal(rig().upstream.requests.length, count + (response.status === 200 ? 1 : 0));
      });
    }
  });

  describe("A15: what a restricted key sees", () => {
    const visible = ["open-a", "team-one"];
    for (const [name, request, read] of [
      ["A", {}, (body: { data: { id: string }[] }) => body.data.map(({ id }) => id)],
      [
        "B",
        { headers: ["anthropic-version: 2023-06-01"] },
        (body: { data: { id: string }[] }) => body.data.map(({ id }) => id),
      ],
      [
        "C",
        { target: "/v1beta/models" },
        (body: { models: { name: string }[] }) => body.models.map((model) => model.name.slice("models/".length)),
      ],
    ] as const) {
      it(`${name}: its list holds exactly what decide() allows`, async () => {
        const list = async (key: string): Promise<string[]> => {
          const response = await rig().exchange(rawRequest({ method: "GET", target: "/v1/models", key, ...request }));
          assert.equal(response.status, 200, response.body.toString());
          return read(JSON.parse(response.body.toString())).toSorted();
        };
        assert.deepEqual(await list(clientKeys.narrow), visible);
        assert.deepEqual(await list(clientKeys.good), models.toSorted());
      });
    }

    for (const model of models) {
      it(`agrees with itself on ${model}: call, single model and explanation`, async () => {
        const isAllowed = visible.includes(model);
        const called = await rig().exchange(rawRequest({ key: clientKeys.narrow, body: chatBody(model) }));
        assert.equal(called.status, isAllowed ? 200 : 403);
        const target = `/v1/models/${encodeURIComponent(model)}`;
        const single = await rig().exchange(rawRequest({ method: "GET", target, key: clientKeys.narrow }));
        assert.equal(single.status === 200, isAllowed);
        assert.equal((await rig().gateway.explain("default/narrow", model)).allowed, isAllowed);
      });
    }

    it("a single model that is forbidden and one that does not exist look alike", async () => {
      const [forbidden, unknown] = await Promise.all(
        ["closed", "nosuch"].map((model) =>
          rig().exchange(rawRequest({ method: "GET", target: `/v1/models/${model}`, key: clientKeys.narrow })),
        ),
      );
      assert.ok(forbidden !== undefined && unknown !== undefined);
      assert.equal(withoutIds(forbidden).replaceAll("closed", "nosuch"), withoutIds(unknown));
    });
  });

  it("the marked body is what refusals of this file carried", () => assert.ok(refusedBody.length > 0));
});

describe("A12: without configuration", function () {
  this.timeout(30_000);

  it("a proxy that never heard of an operator answers 503, and 404 where nothing is", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tollgate-alone-"));
    const flags = [
      "--operator",
      `unix:${folder}/nobody.sock`,
      "--data",
      folder,
      "--listen",
      "127.0.0.1:0",
      "--admin",
      "127.0.0.1:0",
    ];
    const child = fork("cli/main.ts", ["proxy", ...flags, "--drain-endpoint-lag", "0s"], {
      execArgv: [],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    try {
      const [started] = await within(15_000, "the proxy to start", once(child, "message"));
      const client = await RawClient.connect({ port: Number(/:([0-9]+)"/.exec(JSON.stringify(started))?.[1]) });
      for (const key of [null, clientKeys.good]) {
        client.write(rawRequest({ key, body: chatBody() }));
        const response = await client.readResponse();
        assert.deepEqual([response.status, errorCode(response)], [503, "not_ready"]);
      }
      client.write(rawRequest({ method: "GET", target: "/nowhere" }));
      assert.equal((await client.readResponse()).status, 404);
      client.close();
    } finally {
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("an empty folder opens nothing", async () => {
    const gateway = await startGateway({ manifests: {} });
    try {
      for (const key of [null, clientKeys.good]) {
        const client = await RawClient.connect({ port: gateway.port });
        client.write(rawRequest({ key }));
        assert.equal((await client.readResponse()).status, 401);
        client.write(rawRequest({ key, method: "GET", target: "/v1/models" }));
        assert.equal((await client.readResponse()).status, 401);
        client.close();
      }
    } finally {
      await gateway.close();
    }
  });

  it("routes and channels without keys open nothing", async () => {
    const all = rigManifests("http://127.0.0.1:9");
    const withoutKeys = all.split("---\n").filter((document) => !document.includes("kind: ApiKey"));
    const gateway = await startGateway({ manifests: { "all.yaml": withoutKeys.join("---\n") } });
    try {
      for (const key of [null, clientKeys.good, ""]) {
        const client = await RawClient.connect({ port: gateway.port });
        client.write(rawRequest({ key }));
        assert.equal((await client.readResponse()).status, 401);
        client.close();
      }
    } finally {
      await gateway.close();
    }
  });
});

/** Everything but what must differ from answer to answer. */
function withoutIds(response: RawResponse): string {
  const id = response.header("x-request-id") ?? assert.fail("no request id");
  const headers = response.headers.filter(([name]) => name !== "date");
  return JSON.stringify([response.status, headers, response.body.toString()]).replaceAll(id, "ID");
}

/** Welch's t of the times of two refusals, measured in turn so that both meet the same noise; the slowest tenth is cut. */
async function compareTimes(rig: Rig, one: string, two: string, samples: number): Promise<number> {
  const client = await rig.connect();
  const requests = [rawRequest({ key: one, body: "{}" }), rawRequest({ key: two, body: "{}" })];
  const times: [number[], number[]] = [[], []];
  for (let index = 0; index < samples * 2; index += 1) {
    const which = (index >> 1) % 2 === 0 ? index % 2 : 1 - (index % 2);
    const startedMs = performance.now();
    client.write(requests[which] ?? assert.fail());
    await client.readResponse();
    times[which === 0 ? 0 : 1].push(performance.now() - startedMs);
  }
  client.close();
  const [first, second] = times.map((all) => all.toSorted((a, b) => a - b).slice(0, Math.floor(all.length * 0.9)));
  return welch(first ?? [], second ?? []);
}

function welch(one: readonly number[], two: readonly number[]): number {
  const [first, second] = [one, two].map((values) => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
    return { mean, error: variance / values.length };
  });
  assert.ok(first !== undefined && second !== undefined);
  return (first.mean - second.mean) / Math.sqrt(first.error + second.error);
}
