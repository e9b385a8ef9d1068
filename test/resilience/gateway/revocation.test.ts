/**
 * docs/design/reliability.md N1, N2 and changes of manifests while the gateway runs: what is taken away is gone at
 * once, all else goes on.
 */
import assert from "node:assert/strict";
import { appendFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "mocha";
import { type HttpAnswer, httpCall } from "#test/support/conformance/http-call";
import { RawClient } from "#test/support/raw-client";
import { type ByteRequest, chunk, reply, streamHead } from "#test/support/resilience/byte-upstream";
import { callBytes } from "#test/support/resilience/call-gateway";
import { formatNamed, formatOf } from "#test/support/resilience/formats";
import { apiKey, channel, manifest, rawKey, route, secret } from "#test/support/resilience/manifests";
import { type Rig, startRig } from "#test/support/resilience/rig";
import { waitFor } from "#test/support/wait-for";

const chat = formatNamed("ChatCompletions");
const limitMs = 1_000;

/** Streams events for ever; whole replies at once. */
function serveForEver(rig: Rig): void {
  rig.upstream.replyWith(({ socket, head, body }) => {
    const format = formatOf(head);
    if (!body.includes('"stream":true')) {
      socket.write(reply(format.reply()));
      return;
    }
    const [first = "", second = ""] = format.events();
    socket.write(Buffer.concat([Buffer.from(streamHead), chunk(first)]));
    const timer = setInterval(() => socket.write(chunk(second)), 20);
    socket.on("close", () => clearInterval(timer)).on("end", () => clearInterval(timer));
  });
}

describe("a change of manifests while the gateway runs", function () {
  this.timeout(60_000);
  let rig: Rig;

  before(async () => {
    rig = await startRig({
      objects: ([port = 0]) => [secret(), channel("c0", port), route("echo", ["c0"]), apiKey("main")],
    });
    await rig.gateway.write("victim.yaml", manifest(apiKey("victim")));
    await rig.gateway.waitUntilServed("default/victim", "echo");
  });
  after(() => rig?.close());

  const status = async (key: string, model = "echo"): Promise<number> =>
    (await rig.call({ format: chat, key, model, stream: false })).status;

  /** From the write of a file to the first call that is answered with this status. */
  async function timeTo(wanted: number, write: () => Promise<void>, key = "victim", model = "echo"): Promise<number> {
    await write();
    const writtenMs = performance.now();
    await waitFor(`status ${wanted}`, async () => (await status(key, model)) === wanted, {
      deadlineMs: 5_000,
      everyMs: 2,
    });
    return performance.now() - writtenMs;
  }

  const restore = (): Promise<number> =>
    timeTo(200, () => rig.gateway.write("victim.yaml", manifest(apiKey("victim"))));

  it("a key that is suspended while a body arrives begins no call", async () => {
    serveForEver(rig);
    const bytes = Buffer.from(callBytes({ port: rig.port, format: chat, key: "victim", model: "echo", stream: false }));
    const client = await RawClient.connect({ port: rig.port });
    client.write(bytes.subarray(0, -10));
    await timeTo(401, () => rig.gateway.write("victim.yaml", manifest(apiKey("victim", { state: "Suspended" }))));
    const seen = rig.upstream.requests.length;
    client.write(bytes.subarray(-10));
    const { status: answered } = await client.readResponse();
    assert.equal(answered, 401);
    assert.equal(rig.upstream.requests.length, seen, "calls that reached the upstream");
    client.close();
    await restore();
  });

  it("a suspended key is refused within a second while another key's stream goes on", async () => {
    serveForEver(rig);
    const stream = await rig.open({ format: chat });
    await stream.readUntil("the stream", (received) => received.length > 1_000);
    const times: number[] = [];
    for (let round = 0; round < 15; round += 1) {
      times.push(
        await timeTo(401, () => rig.gateway.write("victim.yaml", manifest(apiKey("victim", { state: "Suspended" })))),
      );
      await restore();
    }
    times.sort((a, b) => a - b);
    const median = times[7] ?? 0;
    console.log(
      `      refused after: median ${Math.round(median)} ms, most ${Math.round(times.at(-1) ?? 0)} ms, limits 200 and ${limitMs}`,
    );
    assert.ok((times.at(-1) ?? 0) <= limitMs);
    assert.ok(median <= 200);
    const length = stream.received.length;
    await stream.readUntil("more of the stream", (received) => received.length > length + 1_000);
    assert.equal(stream.isEnded, false);
    stream.close();
  });

  for (const row of [
    { name: "deleted", change: () => rig.gateway.remove("victim.yaml"), want: 401, model: "echo" },
    {
      name: "denied a model",
      change: () => rig.gateway.write("victim.yaml", manifest(apiKey("victim", { models: { deny: ["echo"] } }))),
      want: 403,
      model: "echo",
    },
    {
      name: "restricted to other addresses",
      change: () =>
        rig.gateway.write("victim.yaml", manifest(apiKey("victim", { clientCIDRs: { allow: ["10.0.0.0/8"] } }))),
      want: 403,
      model: "echo",
    },
    {
      name: "given another credential",
      change: () =>
        rig.gateway.write(
          "victim.yaml",
          manifest(apiKey("victim", { credentials: [{ name: "next", sha256: "0".repeat(64) }] })),
        ),
      want: 401,
      model: "echo",
    },
    {
      name: "expired",
      change: () => rig.gateway.write("victim.yaml", manifest(apiKey("victim", { expiresAt: "2020-01-01T00:00:00Z" }))),
      want: 401,
      model: "echo",
    },
    {
      name: "broken in its file",
      change: () => rig.gateway.write("victim.yaml", `${manifest(apiKey("victim")).slice(0, -20)}: [`),
      want: 401,
      model: "echo",
    },
    {
      name: "given a field nobody knows",
      change: () => rig.gateway.write("victim.yaml", manifest(apiKey("victim", { onlyOnSundays: true }))),
      want: 401,
      model: "echo",
    },
  ]) {
    it(`a key that is ${row.name} is refused within a second, and others live on`, async () => {
      serveForEver(rig);
      const tookMs = await timeTo(row.want, row.change, "victim", row.model);
      console.log(`      ${row.name}: refused after ${Math.round(tookMs)} ms, limit ${limitMs}`);
      assert.ok(tookMs <= limitMs);
      assert.equal(await status("main"), 200);
      await restore();
    });
  }

  it("a route, a channel and a price follow their file; a half-written file changes nothing", async () => {
    const [port = 0] = rig.upstreams.map((upstream) => upstream.port);
    const file = join(rig.gateway.folder, "more.yaml");
    await rig.gateway.write("more.yaml", manifest(route("fresh", ["c0"])));
    await waitFor("the new route", async () => (await status("main", "fresh")) === 200);
    // Written in place, in halves: the reader must not act on half a document.
    const price = { price: { inputPerMillion: "10", outputPerMillion: "20" } };
    const text = manifest(channel("c1", port), route("fresh", ["c1"], price));
    await writeFile(file, text.slice(0, text.length / 2));
    for (let round = 0; round < 20; round += 1) assert.equal(await status("main", "fresh"), 200);
    await appendFile(file, text.slice(text.length / 2));
    await waitFor("the new channel and price", async () => {
      await status("main", "fresh");
      const line = rig.gateway.accessLog.findLast(({ model }) => model === "fresh");
      return line?.["channel"] === "default/c1" && Number(line["cost_nanos"]) >= 10_000;
    });
    for (const [from, to] of [
      ["more", "before"],
      ["before", "later"],
      ["later", "middle"],
      ["middle", "renamed"],
    ]) {
      await rename(join(rig.gateway.folder, `${from}.yaml`), join(rig.gateway.folder, `${to}.yaml`));
      for (let round = 0; round < 20; round += 1)
        assert.equal(await status("main", "fresh"), 200, "a renamed file changes nothing");
    }
    await rig.gateway.write(
      "renamed.yaml",
      manifest(route("fresh", ["c1"]), channel("c1", port, { state: "Disabled" })),
    );
    await waitFor("the channel to be out of use", async () => (await status("main", "fresh")) === 503);
    await rig.gateway.remove("renamed.yaml");
    await waitFor("the route to be gone", async () => (await status("main", "fresh")) === 404);
    assert.equal(await status("main"), 200);
  });

  it("no change costs a request: 60 changes under load", async () => {
    serveForEver(rig);
    let isRunning = true;
    const seen = new Map<number, number>();
    const load = Array.from({ length: 4 }, async () => {
      while (isRunning) {
        const got = await status("main");
        seen.set(got, (seen.get(got) ?? 0) + 1);
      }
    });
    const [port = 0] = rig.upstreams.map((upstream) => upstream.port);
    for (let round = 0; round < 60; round += 1) {
      const timeouts = { timeouts: { connect: `${1000 + round}ms` } };
      await rig.gateway.write(
        "churn.yaml",
        manifest(apiKey(`churn-${round}`), route(`churn-${round}`, ["extra"]), channel("extra", port, timeouts)),
      );
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    isRunning = false;
    await Promise.all(load);
    console.log(`      answers by status: ${JSON.stringify(Object.fromEntries(seen))}`);
    assert.deepEqual([...seen.keys()], [200]);
  });

  it("no key is in the logs", () => {
    for (const name of ["main", "victim"]) assert.ok(!rig.gateway.logs.includes(rawKey(name)));
  });
});

describe("revocation: Immediate", function () {
  this.timeout(60_000);
  let rig: Rig;
  before(async () => {
    rig = await startRig({
      objects: ([port = 0]) => [secret(), channel("c0", port), route("echo", ["c0"]), apiKey("main")],
      flags: ["--revocation=Immediate"],
    });
  });
  after(() => rig?.close());

  for (const row of [
    { name: "suspended", file: manifest(apiKey("victim", { state: "Suspended" })) },
    { name: "deleted", file: undefined },
    { name: "denied its model", file: manifest(apiKey("victim", { models: { deny: ["echo"] } })) },
    {
      name: "given another credential",
      file: manifest(apiKey("victim", { credentials: [{ name: "next", sha256: "0".repeat(64) }] })),
    },
    {
      name: "restricted to other addresses",
      file: manifest(apiKey("victim", { clientCIDRs: { allow: ["10.0.0.0/8"] } })),
    },
  ]) {
    it(`cuts the open stream of a key that is ${row.name} within a second, and no other`, async () => {
      serveForEver(rig);
      await rig.gateway.write("victim.yaml", manifest(apiKey("victim")));
      await waitFor(
        "the key",
        async () => (await rig.call({ format: chat, key: "victim", stream: false })).status === 200,
      );
      const victim = await rig.open({ format: chat, key: "victim" });
      const other = await rig.open({ format: chat });
      for (const stream of [victim, other]) await stream.readUntil("the stream", (received) => received.length > 1_000);
      if (row.file === undefined) await rig.gateway.remove("victim.yaml");
      else await rig.gateway.write("victim.yaml", row.file);
      const writtenMs = performance.now();
      const answer = await victim.readResponse(3_000);
      const tookMs = performance.now() - writtenMs;
      console.log(`      ${row.name}: cut after ${Math.round(tookMs)} ms, limit ${limitMs}`);
      assert.ok(tookMs <= limitMs);
      assert.equal(answer.isComplete, true, "a clean end behind the event");
      assert.match(answer.body.toString(), chat.errorEvent);
      const length = other.received.length;
      await other.readUntil("more of the other stream", (received) => received.length > length + 500);
      other.close();
      const line = await rig.logLine(
        "the cut call's line",
        ({ key, stream }) => key === "default/victim" && stream === true,
      );
      assert.equal(line["end"], "KD");
    });
  }

  describe("of calls that are no stream", () => {
    const counting = { provider: "Anthropic", formats: [{ type: "Messages" }, { type: "CountTokens" }] };
    let waiting: ByteRequest[];

    before(async () => {
      const { port } = rig.upstream;
      await rig.gateway.write(
        "counted.yaml",
        manifest(channel("counting", port, counting), route("counted", ["counting"])),
      );
      await rig.gateway.waitUntilServed("default/main", "counted");
    });
    beforeEach(async () => {
      waiting = [];
      // Answers no question but those that make something.
      rig.upstream.replyWith((request) => {
        if (request.head.startsWith("POST") && !request.head.includes("count_tokens"))
          request.socket.write(reply(formatNamed("Responses").reply()));
        else waiting.push(request);
      });
      await rig.gateway.write("victim.yaml", manifest(apiKey("victim")));
      await waitFor("the key", async () => (await ask("GET", "/v1/models")).status === 200);
    });

    function ask(method: string, path: string, body?: object): Promise<HttpAnswer> {
      const headers = { authorization: `Bearer ${rawKey("victim")}` };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      return httpCall({ origin: rig.gateway.origin, method, path, headers, ...sent });
    }

    async function keptId(): Promise<string> {
      const made = await ask("POST", "/v1/responses", { model: "echo", input: "hi", store: true });
      assert.equal(made.status, 200, made.body.toString());
      return (made.json() as { id: string }).id;
    }

    for (const { name, start } of [
      { name: "a kept response is read", start: async () => ask("GET", `/v1/responses/${await keptId()}`) },
      { name: "its input is listed", start: async () => ask("GET", `/v1/responses/${await keptId()}/input_items`) },
      { name: "it is deleted", start: async () => ask("DELETE", `/v1/responses/${await keptId()}`) },
      {
        name: "tokens are counted",
        start: () =>
          ask("POST", "/v1/messages/count_tokens", { model: "counted", messages: [{ role: "user", content: "hi" }] }),
      },
    ]) {
      it(`refuses within a second while ${name}, and leaves the upstream`, async () => {
        const answering = start();
        const asked = await waitFor("the question at the upstream", () => waiting[0]);
        await rig.gateway.write("victim.yaml", manifest(apiKey("victim", { state: "Suspended" })));
        const writtenMs = performance.now();
        const answer = await answering;
        const tookMs = performance.now() - writtenMs;
        assert.equal(answer.status, 401, answer.body.toString());
        assert.ok(tookMs <= limitMs, `${tookMs} ms`);
        await waitFor("the upstream to be left", () => asked.closedAtMs !== undefined);
        await rig.settleDown();
      });
    }
  });

  it("cuts the open stream of a key that has run out, within a second of its time", async () => {
    serveForEver(rig);
    const expiresAt = new Date(Date.now() + 3_000).toISOString();
    await rig.gateway.write("brief.yaml", manifest(apiKey("brief", { expiresAt })));
    await waitFor(
      "the key",
      async () => (await rig.call({ format: chat, key: "brief", stream: false })).status === 200,
    );
    const brief = await rig.open({ format: chat, key: "brief" });
    const answer = await brief.readResponse(6_000);
    const lateMs = Date.now() - Date.parse(expiresAt);
    assert.ok(lateMs >= 0 && lateMs <= limitMs, `cut ${lateMs} ms after its time`);
    assert.match(answer.body.toString(), chat.errorEvent);
  });
});
