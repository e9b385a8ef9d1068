/** docs/design/reliability.md P8, O2 and F4: what one caller may hold of the places that all share, on the wire. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type ChatCallForm, callForms } from "#test/support/conformance/chat-calls";
import { type HttpAnswer, httpCall } from "#test/support/conformance/http-call";
import { InProcessGateway, type InProcessOptions } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { naturalReply } from "#test/support/conformance/natural-replies";
import { FakeUpstream } from "#test/support/fake-upstream";
import { RawClient } from "#test/support/raw-client";
import { waitFor } from "#test/support/wait-for";

describe("what one caller may hold", () => {
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;
  let clients: RawClient[];

  async function start(options: Omit<InProcessOptions, "manifests">): Promise<void> {
    clients = [];
    upstream = await FakeUpstream.start(naturalReply);
    gateway = await InProcessGateway.start({
      ...options,
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("eve", { concurrency: { maxInFlight: 1 } }),
        keyManifest("hog"),
        keyManifest("main"),
        channelManifest("chat", upstream.origin),
        routeManifest("chat"),
      ),
    });
  }

  async function connect(localAddress = "127.0.0.1"): Promise<RawClient> {
    const client = await RawClient.connect({ port: gateway.port, localAddress });
    clients.push(client);
    return client;
  }

  afterEach(async () => {
    for (const client of clients) client.close();
    await gateway.close();
    await upstream.close();
  });

  describe("bodies that are still on their way", () => {
    // A key's share is two.
    beforeEach(() => start({ limits: { inFlightRequestsMax: 8 } }));

    /** Sends a call but for the last byte of its body. */
    async function begin(form: ChatCallForm, key: string, expect = ""): Promise<{ client: RawClient; rest: string }> {
      const client = await connect();
      const body = JSON.stringify(form.body("chat", false));
      const headers = Object.entries({ ...form.headers(key), "content-type": "application/json" });
      const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
      client.write(
        `POST ${form.path("chat", false)} HTTP/1.1\r\nhost: x\r\n${lines}${expect}content-length: ${body.length}\r\n\r\n`,
      );
      if (expect === "") client.write(body.slice(0, -1));
      return { client, rest: body.slice(-1) };
    }

    async function hold(form: ChatCallForm): Promise<{ client: RawClient; rest: string }[]> {
      const held = [await begin(form, "eve"), await begin(form, "eve")];
      await waitFor("both to be read", () => gateway.bodiesUnderWay === 2);
      return held;
    }

    for (const form of callForms) {
      it(`of one key hold its share only: ${form.format}`, async () => {
        const held = await hold(form);
        const { client } = await begin(form, "eve");
        const refused = await client.readResponse();
        assert.equal(refused.status, form.format === "Messages" ? 529 : 503);
        assert.equal(refused.header("retry-after"), "1");
        const answer = await httpCall({
          origin: gateway.origin,
          path: form.path("chat", false),
          headers: form.headers("main"),
          body: JSON.stringify(form.body("chat", false)),
        });
        assert.equal(answer.status, 200, answer.body.toString());
        for (const { client, rest } of held) {
          client.write(rest);
          assert.equal((await client.readResponse()).status, 200);
        }
        assert.equal(gateway.bodiesUnderWay, 0);
      });
    }

    it("are not asked for beyond the share", async () => {
      const [form] = callForms;
      assert.ok(form);
      await hold(form);
      const { client } = await begin(form, "eve", "expect: 100-continue\r\n");
      assert.equal((await client.readResponse()).status, 503);
    });

    it("leave their places when their clients leave", async () => {
      const [form] = callForms;
      assert.ok(form);
      for (const { client } of await hold(form)) client.reset();
      await waitFor("the places", () => gateway.bodiesUnderWay === 0);
      const { client, rest } = await begin(form, "eve");
      client.write(rest);
      assert.equal((await client.readResponse()).status, 200);
    });
  });

  describe("requests that are served at once", () => {
    const headers = { authorization: `Bearer ${clientKey("main")}` };
    const question = { model: "chat", messages: [{ role: "user", content: "hi" }] };

    it("are bounded whatever they ask", async () => {
      await start({ limits: { inFlightRequestsMax: 1 } });
      const answered = Promise.withResolvers<void>();
      upstream.replyWith(async (request) => {
        await answered.promise;
        return naturalReply(request);
      });
      const call = (path: string, body?: object): Promise<HttpAnswer> =>
        httpCall({ origin: gateway.origin, path, headers, ...(body && { body: JSON.stringify(body) }) });
      const held = call("/v1/chat/completions", question);
      await waitFor("the call at the upstream", () => upstream.requests.length === 1);
      const statuses = await Promise.all(
        [
          call("/v1/models"),
          call("/v1/models/chat"),
          call("/v1/responses/resp_1"),
          call("/v1/responses/resp_1/input_items"),
          call("/v1/messages/count_tokens", question),
          call("/v1/chat/completions", question),
        ].map(async (answer) => [(await answer).status, (await answer).header("retry-after")]),
      );
      assert.deepEqual(statuses, [
        [503, "1"],
        [503, "1"],
        [503, "1"],
        [503, "1"],
        [529, "1"],
        [503, "1"],
      ]);
      // A stranger learns nothing of how busy it is.
      const stranger = await httpCall({ origin: gateway.origin, path: "/v1/models" });
      assert.equal(stranger.status, 401);
      answered.resolve();
      assert.equal((await held).status, 200);
      assert.equal((await call("/v1/models")).status, 200);
    });
  });

  describe("bytes of calls that wait for their upstream", () => {
    const MiB = 1024 * 1024;

    it("of one key leave room for others when the gateway is busy, and are given back", async () => {
      await start({ limits: { inFlightBytesMax: 5 * MiB, jsonBodyBytesMax: MiB } });
      const answered = Promise.withResolvers<void>();
      upstream.replyWith(async (request) => {
        await answered.promise;
        return naturalReply(request);
      });
      const content = "a".repeat(0.9 * MiB);
      const call = (key: string): Promise<HttpAnswer> =>
        httpCall({
          origin: gateway.origin,
          path: "/v1/chat/completions",
          headers: { authorization: `Bearer ${clientKey(key)}` },
          body: JSON.stringify({ model: "chat", messages: [{ role: "user", content }] }),
        });
      const held = [call("hog"), call("hog")];
      await waitFor("the first calls at the upstream", () => upstream.requests.length === 2);
      const refused = await call("hog");
      assert.deepEqual([refused.status, refused.header("retry-after")], [503, "1"], refused.body.toString());
      assert.match(refused.body.toString(), /calls of this key/);
      // The largest call of another key fits, though it passes its share and the half.
      held.push(call("main"));
      await waitFor("the other's call", () => upstream.requests.length === 3);
      answered.resolve();
      for (const answer of held) assert.equal((await answer).status, 200, (await answer).body.toString());
      await waitFor("all bytes to be given back", () => gateway.inFlightBytes === 0);
      assert.equal((await call("hog")).status, 200);
    });

    it("of a key's only call are bounded by nothing but the cap", async () => {
      await start({ limits: { inFlightBytesMax: MiB, jsonBodyBytesMax: MiB } });
      const answer = await httpCall({
        origin: gateway.origin,
        path: "/v1/chat/completions",
        headers: { authorization: `Bearer ${clientKey("main")}` },
        body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "a".repeat(0.9 * MiB) }] }),
      });
      assert.equal(answer.status, 200);
    });
  });

  describe("connections of one address", () => {
    const request = `GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${clientKey("main")}\r\n\r\n`;

    async function isServed(client: RawClient): Promise<boolean> {
      client.write(request);
      return client.readResponse().then(
        ({ status }) => status === 200,
        () => false,
      );
    }

    it("are closed beyond its share, and those of others are served", async () => {
      await start({ limits: { connectionsPerAddressMax: 3 } });
      const [first, second, third, fourth] = [await connect(), await connect(), await connect(), await connect()];
      for (const client of [first, second, third]) assert.equal(await isServed(client), true);
      await fourth.readToEnd();
      assert.equal(fourth.received.length, 0);
      assert.equal(await isServed(await connect("127.0.0.2")), true);
      first.close();
      await waitFor("room again", async () => isServed(await connect()));
    });

    it("are as many as they like where they come from a trusted proxy", async () => {
      await start({ limits: { connectionsPerAddressMax: 1 }, trustedProxies: { hops: 0, cidrs: ["127.0.0.1/32"] } });
      for (let index = 0; index < 3; index += 1) assert.equal(await isServed(await connect()), true);
      assert.equal(await isServed(await connect("127.0.0.2")), true);
      assert.equal(await isServed(await connect("127.0.0.2")), false);
    });
  });
});
