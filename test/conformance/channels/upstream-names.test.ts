/** The name under which a provider knows a model is the operator's own: an error names the public one, wherever it was mapped. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
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

const upstreamName = "hidden-deployment-7";
const said = `The model '${upstreamName}' takes no pictures.`;

describe("an error of a provider that names the model", () => {
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;
  const headers = { authorization: `Bearer ${clientKey("main")}` };

  before(async () => {
    upstream = await FakeUpstream.start();
    gateway = await InProcessGateway.start({
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("main"),
        channelManifest("mapped", upstream.origin, { models: [{ name: "mapped", upstreamName }] }),
        channelManifest("plain", upstream.origin),
        routeManifest("mapped", { aliases: ["alias-of-mapped"] }),
        routeManifest("target", {
          targets: [{ name: "main", channelRef: { name: "plain" }, upstreamModel: upstreamName }],
        }),
        routeManifest(upstreamName, {
          aliases: ["alias-of-plain"],
          targets: [{ name: "main", channelRef: { name: "plain" } }],
        }),
      ),
    });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  function call(path: string, body?: object): Promise<HttpAnswer> {
    return httpCall({
      origin: gateway.origin,
      path,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  for (const model of ["mapped", "alias-of-mapped", "target", "alias-of-plain"]) {
    for (const stream of [false, true]) {
      it(`says ${model} to a client that asked for ${model}${stream ? ", in a stream as well" : ""}`, async () => {
        const error = { message: said, type: "invalid_request_error", code: null, param: null };
        const event = `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model, choices: [{ index: 0, delta: { content: "x" } }] })}\n\n`;
        upstream.replyWith(
          stream
            ? {
                headers: { "content-type": "text/event-stream" },
                body: `${event}data: ${JSON.stringify({ error })}\n\n`,
              }
            : { status: 400, body: JSON.stringify({ error }) },
        );
        const body = { model, messages: [{ role: "user", content: "hi" }], stream };
        const text = (await call("/v1/chat/completions", body)).body.toString();
        assert.ok(text.includes(`'${model}' takes no pictures`), text);
        assert.ok(!text.includes(upstreamName), text);
      });
    }
  }

  it("says it to a client that reads what was made with it", async () => {
    upstream.replyWith(naturalReply);
    const { id } = Object((await call("/v1/responses", { model: "mapped", input: "hi" })).json());
    upstream.replyWith({ status: 400, body: JSON.stringify({ error: { message: said } }) });
    const text = (await call(`/v1/responses/${id}`)).body.toString();
    assert.ok(text.includes("'mapped' takes no pictures"), text);
    assert.ok(!text.includes(upstreamName), text);
  });
});
