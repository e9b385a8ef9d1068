/** A call of a few bytes may go on from megabytes: they count as the bodies of requests do. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type HttpAnswer, httpCall } from "#test/support/conformance/http-call";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
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
import { waitFor } from "#test/support/wait-for";

describe("the bytes of a conversation that calls go on from", () => {
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;

  beforeEach(async () => {
    upstream = await FakeUpstream.start(naturalReply);
    gateway = await InProcessGateway.start({
      limits: { inFlightBytesMax: 500_000 },
      manifests: manifests(),
    });
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  function manifests(key: object = {}): string {
    return manifestOf(
      channelSecretManifest(),
      keyManifest("main", key),
      channelManifest("chat", upstream.origin, { formats: [{ type: "ChatCompletions" }] }),
      routeManifest("chat"),
    );
  }

  function create(body: object): Promise<HttpAnswer> {
    return httpCall({
      origin: gateway.origin,
      path: "/v1/responses",
      headers: { authorization: `Bearer ${clientKey("main")}` },
      body: JSON.stringify({ model: "chat", ...body }),
    });
  }

  it("are held as long as the call runs, within the bound of all bodies", async () => {
    const first = await create({ input: "x".repeat(200_000) });
    assert.equal(first.status, 200, first.body.toString());
    const goOn = () => create({ input: "and", previous_response_id: Object(first.json()).id });
    let held = 0;
    upstream.replyWith((asked) => {
      held = Math.max(held, gateway.inFlightBytes);
      return { ...naturalReply(asked), delayHeadMs: 300 };
    });
    const answers = await Promise.all([goOn(), goOn(), goOn(), goOn()]);
    assert.ok(held >= 200_000, `${held} bytes were held`);
    // Beside one that holds more than the key's share there is room for short calls alone.
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 503, 503, 503]);
    assert.equal(gateway.inFlightBytes, 0);
    assert.equal(gateway.ledger.openCount, 0);
  });

  it("are held while one that was kept is read", async () => {
    const first = await create({ input: "x".repeat(200_000) });
    assert.equal(first.status, 200, first.body.toString());
    const { id } = Object(first.json());
    const read = (suffix = ""): Promise<HttpAnswer> =>
      httpCall({
        origin: gateway.origin,
        path: `/v1/responses/${id}${suffix}`,
        headers: { authorization: `Bearer ${clientKey("main")}` },
      });
    upstream.replyWith((asked) => ({ ...naturalReply(asked), delayHeadMs: 500 }));
    const beside = create({ input: "x".repeat(400_000), store: false });
    await waitFor("the call beside", () => gateway.inFlightBytes > 400_000);
    assert.equal((await read()).status, 503);
    assert.equal((await read("/input_items")).status, 503);
    assert.equal((await beside).status, 200);
    assert.equal((await read()).status, 200);
    await waitFor("all to be let go", () => gateway.inFlightBytes === 0);
  });

  it("are held while one that its provider keeps is fetched, and until its client has it", async () => {
    gateway.apply(
      manifestOf(
        channelSecretManifest(),
        keyManifest("main"),
        channelManifest("chat", upstream.origin, { formats: [{ type: "Responses" }] }),
        routeManifest("chat"),
      ),
    );
    const { id } = Object((await create({ input: "hello" })).json());
    const kept = JSON.stringify({ id, object: "response", output: [], instructions: "x".repeat(450_000) });
    upstream.replyWith({ body: kept, fragmentAt: [kept.length - 1], delayPieceMs: 300 });
    const read = (): Promise<HttpAnswer> =>
      httpCall({
        origin: gateway.origin,
        path: `/v1/responses/${id}`,
        headers: { authorization: `Bearer ${clientKey("main")}` },
      });
    const reading = [read(), read(), read()];
    await waitFor("an answer to be held", () => gateway.inFlightBytes > 300_000);
    const answers = await Promise.all(reading);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 503, 503]);
    await waitFor("all to be let go", () => gateway.inFlightBytes === 0);
    assert.equal((await read()).status, 200);
    await waitFor("that one too", () => gateway.inFlightBytes === 0 && gateway.ledger.openCount === 0);
  });

  it("begin no call with a key that was revoked while the call waited for its turn", async () => {
    const first = await create({ input: "hello" });
    const { id } = Object(first.json());
    const asked = upstream.requests.length;
    let letGo = (): void => undefined;
    const before = gateway.conversationMutex.run("default/main", () => {
      return new Promise<void>((resolve) => {
        letGo = resolve;
      });
    });
    const waiting = create({ input: "and", previous_response_id: id });
    await waitFor("the call to wait", () => gateway.inFlightBytes > 0);
    gateway.apply(manifests({ state: "Suspended" }));
    letGo();
    await before;
    assert.equal((await waiting).status, 401);
    assert.equal(upstream.requests.length, asked);
  });
});
