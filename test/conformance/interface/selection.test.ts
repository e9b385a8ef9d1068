/**
 * Which target serves a call, over the formats of its channel, the capabilities of its model and the endpoint: the call
 * itself and its explanation agree.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { explain } from "#proxy/explain";
import type { Capability, WireFormat } from "#proxy/snapshot/types.gen";
import { useEndpointRig } from "#test/support/conformance/endpoint-rig";
import { channelManifest, routeManifest } from "#test/support/conformance/manifests";
import { at } from "#test/support/digest/facts";

interface AskedEndpoint {
  readonly format: WireFormat;
  readonly capability: Capability;
  readonly path: string;
  readonly body: object;
}

const endpoints: readonly AskedEndpoint[] = [
  { format: "Completions", capability: "Completion", path: "/v1/completions", body: { prompt: "a", max_tokens: 4 } },
  {
    format: "ChatCompletions",
    capability: "Chat",
    path: "/v1/chat/completions",
    body: { messages: [{ role: "user", content: "a" }] },
  },
  { format: "Embeddings", capability: "Embeddings", path: "/v1/embeddings", body: { input: "a" } },
  { format: "ImageGenerations", capability: "ImageGeneration", path: "/v1/images/generations", body: { prompt: "a" } },
  { format: "Moderations", capability: "Moderation", path: "/v1/moderations", body: { input: "a" } },
];

const formatsOfChannels: readonly (readonly WireFormat[])[] = [
  ["Completions"],
  ["ChatCompletions"],
  ["Completions", "ChatCompletions"],
  ["Completions", "Messages"],
  ["Embeddings"],
  ["EmbedContent", "Moderations"],
  ["GenerateContent", "Predict"],
];

const capabilitiesOfModels: readonly (readonly Capability[] | undefined)[] = [
  undefined,
  ["Chat"],
  ["Completion"],
  ["Chat", "Completion"],
  ["Embeddings", "Moderation"],
  ["ImageGeneration"],
];

/** The formats of the channel, in the order in which the endpoint prefers them. */
const preferred: Readonly<Record<string, readonly WireFormat[]>> = {
  Completions: ["Completions", "ChatCompletions", "GenerateContent", "Messages"],
  ChatCompletions: ["ChatCompletions", "GenerateContent", "Messages"],
  Embeddings: ["Embeddings", "EmbedContent"],
  // The upstream's model is one of Imagen's.
  ImageGenerations: ["Predict", "GenerateContent"],
  Moderations: ["Moderations"],
};

/** In which format a call is asked; undefined where it cannot be. */
function wanted(
  { format, capability }: AskedEndpoint,
  formats: readonly WireFormat[],
  capabilities: readonly Capability[] | undefined,
): WireFormat | undefined {
  const canServe = capabilities === undefined || capabilities.includes(capability);
  const isInChat = !canServe && format === "Completions" && capabilities?.includes("Chat") === true;
  if (!canServe && !isInChat) return undefined;
  const order = isInChat ? (preferred["ChatCompletions"] ?? []) : (preferred[format] ?? []);
  return order.find((one) => formats.includes(one));
}

const cases = formatsOfChannels.flatMap((formats, channel) =>
  capabilitiesOfModels.map((capabilities, model) => ({ formats, capabilities, name: `m-${channel}-${model}` })),
);

describe("selection of a target", () => {
  const rig = useEndpointRig({
    path: "/v1/completions",
    // Refused with the words of nobody: which format was asked is told by the path alone.
    reply: { status: 400, body: "{}" },
    manifests: (origin) =>
      cases.flatMap(({ formats, capabilities, name }) => [
        channelManifest(name, origin, {
          baseURL: origin,
          formats: formats.map((type) => ({ type, path: `/${type}` })),
          models: [{ name, upstreamName: "imagen-1", ...(capabilities && { capabilities }) }],
        }),
        routeManifest(name, { capabilities: endpoints.map(({ capability }) => capability) }),
      ]),
  });

  for (const { formats, capabilities, name } of cases) {
    const of = capabilities === undefined ? "a model of any capability" : `a model of ${capabilities.join(" and ")}`;
    it(`asks ${of} on a channel of ${formats.join(" and ")}, and explains the same`, async () => {
      for (const endpoint of endpoints) {
        const { format, path, body } = endpoint;
        rig.upstream.forget();
        const want = wanted(endpoint, formats, capabilities);
        const answer = await rig.call({ model: name, ...body }, { path });
        assert.deepEqual(
          rig.upstream.requests.map(({ target }) => target.replace(/^\//, "")),
          want === undefined ? [] : [want],
          `${format}: ${answer.body}`,
        );
        assert.equal(at(answer.json(), "error", "code") === "unsupported_endpoint", want === undefined, format);
        const { targets = [], allowed } = explain(
          { key: "default/k", model: name, format },
          rig.gateway.snapshot,
          Date.now(),
        );
        assert.equal(allowed, want !== undefined, format);
        const usable = want === format ? "yes" : `yes, translated to ${want}`;
        if (want === undefined) assert.match(targets[0]?.usable ?? "", /^no: /, format);
        else assert.equal(targets[0]?.usable, usable, format);
      }
    });
  }
});
