/**
 * Kept responses under a configuration that changed since they were made: a key that lost the model has lost them, and a
 * channel that the route no longer leads to is asked for nothing.
 */
import assert from "node:assert/strict";
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
import { at, list } from "#test/support/digest/facts";
import { FakeUpstream, type ReceivedRequest, type ScriptedReply } from "#test/support/fake-upstream";

const formats = [{ type: "Responses" }];
const credential = { name: "main", secretKeyRef: { name: "upstream", key: "apiKey" } };
const spare = { ...credential, name: "spare" };
const models = ["local", "native", "other"];

interface Changes {
  readonly key?: object;
  readonly channel?: object;
  readonly routes?: Readonly<Record<string, object | undefined>>;
  readonly more?: readonly object[];
}

describe("kept responses after a change of configuration", () => {
  let gateway: InProcessGateway;
  let upstream: FakeUpstream;
  let made = 0;

  before(async () => {
    upstream = await FakeUpstream.start(reply);
    gateway = await InProcessGateway.start({ manifests: manifests({}) });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });
  beforeEach(() => gateway.apply(manifests({})));

  /** A provider that keeps all that it made, each under an id of its own. */
  function reply(request: ReceivedRequest): ScriptedReply {
    if (request.method !== "POST") return { body: JSON.stringify({ object: "response" }) };
    made += 1;
    const { body, ...rest } = naturalReply(request);
    const output = [{ type: "message", role: "assistant", id: `msg_up${made}`, content: [] }];
    const own = `${body}`.replaceAll('"resp_1"', `"resp_up${made}"`);
    return { ...rest, body: own.replace('"output":[]', `"output":${JSON.stringify(output)}`) };
  }

  function manifests({ key, channel, routes = {}, more = [] }: Changes): string {
    return manifestOf(
      channelSecretManifest(),
      keyManifest("main", key),
      channelManifest("local", upstream.origin, { formats: [{ type: "Messages" }] }),
      channelManifest("native", upstream.origin, { formats, ...channel }),
      channelManifest("other", upstream.origin, { formats: [{ type: "ChatCompletions" }] }),
      ...models.flatMap((model) =>
        model in routes && routes[model] === undefined ? [] : [routeManifest(model, routes[model])],
      ),
      ...more,
    );
  }

  function call(method: string, path: string, body?: object): Promise<HttpAnswer> {
    return httpCall({
      origin: gateway.origin,
      method,
      path,
      headers: { authorization: `Bearer ${clientKey("main")}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  function create(model: string, changes: object = {}): Promise<HttpAnswer> {
    return call("POST", "/v1/responses", { model, input: "one", ...changes });
  }

  async function kept(model: string, changes: object = {}): Promise<{ id: string; itemId: unknown }> {
    const response = (await create(model, changes)).json();
    return { id: String(at(response, "id")), itemId: at(list(at(response, "output"))[0], "id") };
  }

  /** Everything that asks for one kept response by its id. */
  function asked(id: string): Promise<HttpAnswer>[] {
    const path = `/v1/responses/${id}`;
    return [call("GET", path), call("GET", `${path}/input_items`), call("DELETE", path)];
  }

  async function assertAll(answers: readonly Promise<HttpAnswer>[], status: number, code: string): Promise<void> {
    upstream.forget();
    for (const answer of await Promise.all(answers)) {
      assert.equal(answer.status, status, answer.body.toString());
      assert.equal(at(answer.json(), "error", "code"), code);
    }
    assert.equal(upstream.requests.length, 0);
  }

  for (const model of ["local", "native"]) {
    const goldOnly = { [model]: { keySelector: { matchLabels: { tier: "gold" } } } };
    for (const { name, changes } of [
      { name: "a key that the model is denied to", changes: { key: { models: { deny: [model] } } } },
      { name: "a key whose models are others", changes: { key: { models: { allow: ["other"] } } } },
      { name: "a key that the route no longer selects", changes: { routes: goldOnly } },
    ]) {
      it(`gives nothing of ${model} to ${name}, and deletes nothing for it`, async () => {
        const { id } = await kept(model);
        gateway.apply(manifests(changes));
        await assertAll(asked(id), 403, "model_not_allowed");
        gateway.apply(manifests({}));
        assert.equal((await call("GET", `/v1/responses/${id}`)).status, 200);
      });

      it(`lets nothing go on from ${model} for ${name}`, async () => {
        const { id, itemId } = await kept(model);
        const link = model === "local" ? await kept("other", { previous_response_id: id }) : { id };
        gateway.apply(manifests(changes));
        const goingOn = [id, link.id].map((previous) => create("other", { previous_response_id: previous }));
        const referring = create("other", { input: [{ type: "item_reference", id: itemId }] });
        await assertAll([...goingOn, referring], 403, "model_not_allowed");
      });
    }
  }

  it("gives what it keeps itself though the model is gone, and lets another go on from it", async () => {
    const { id } = await kept("local");
    gateway.apply(manifests({ routes: { local: undefined } }));
    assert.equal((await create("other", { previous_response_id: id })).status, 200);
    for (const method of ["GET", "DELETE"]) assert.equal((await call(method, `/v1/responses/${id}`)).status, 200);
  });

  for (const { name, changes } of [
    {
      name: "the route leads elsewhere",
      changes: { routes: { native: { targets: [{ name: "main", channelRef: { name: "other" } }] } } },
    },
    { name: "the route is gone", changes: { routes: { native: undefined } } },
    ...["Disabled", "Draining"].flatMap((state) => [
      { name: `the channel is ${state}`, changes: { channel: { state } } },
      { name: `its credential is ${state}`, changes: { channel: { credentials: [{ ...credential, state }, spare] } } },
    ]),
    { name: "its credential is gone", changes: { channel: { credentials: [spare] } } },
  ]) {
    it(`asks no provider where ${name}`, async () => {
      const { id } = await kept("native");
      gateway.apply(manifests(changes));
      await assertAll(asked(id), 404, "unknown_url");
    });
  }

  it("asks no provider whose owner no longer admits the route's namespace", async () => {
    const shared = (from: string) =>
      manifests({
        routes: { native: { targets: [{ name: "main", channelRef: { name: "far", namespace: "far" } }] } },
        more: [far(from), inFar(channelSecretManifest())],
      });
    gateway.apply(shared("All"));
    const { id } = await kept("native");
    assert.equal((await call("GET", `/v1/responses/${id}`)).status, 200);
    gateway.apply(shared("Same"));
    await assertAll(asked(id), 404, "unknown_url");
    await assertAll([create("native", { previous_response_id: id })], 400, "previous_response_not_found");
  });

  const inFar = (object: object) => ({ ...object, metadata: { ...Object(object).metadata, namespace: "far" } });
  const far = (from: string) =>
    inFar(channelManifest("far", upstream.origin, { formats, allowedNamespaces: { from } }));
});
