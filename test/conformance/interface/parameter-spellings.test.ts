/**
 * Rules of a route hold for a parameter by whichever of its names the client writes it, at every endpoint that is no chat
 * (docs/design/interface.md 2; those of chat: `route-parameters.test.ts`).
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { replies } from "#test/support/conformance/embedding-rig";
import { useEndpointRig } from "#test/support/conformance/endpoint-rig";
import type { HttpAnswer } from "#test/support/conformance/http-call";
import { channelManifest, routeManifest } from "#test/support/conformance/manifests";
import { wholeCompletion } from "#test/support/conformance/text-completions";
import { at } from "#test/support/digest/facts";
import type { ReceivedRequest, ScriptedReply } from "#test/support/fake-upstream";

interface Spelled {
  readonly endpoint: keyof typeof calls;
  /** As the route spells it. */
  readonly rule: string;
  /** As the client spells it, with a value above the greatest of the route. */
  readonly client: string;
}

const calls = {
  embeddings: { path: "/v1/embeddings", body: { input: "a" } },
  rerank: { path: "/v1/rerank", body: { query: "q", documents: ["a"] } },
  completions: { path: "/v1/completions", body: { prompt: "a" } },
} as const;

const spelled: readonly Spelled[] = [
  ...["dimensions", "output_dimension", "outputDimensionality", "output_dimensionality"].flatMap((client) => [
    { endpoint: "embeddings" as const, rule: "dimensions", client },
    { endpoint: "embeddings" as const, rule: "output_dimension", client },
  ]),
  { endpoint: "rerank", rule: "top_n", client: "top_n" },
  { endpoint: "rerank", rule: "top_n", client: "top_k" },
  { endpoint: "rerank", rule: "top_k", client: "top_n" },
  { endpoint: "completions", rule: "max_tokens", client: "max_tokens" },
  { endpoint: "completions", rule: "max_tokens", client: "max_completion_tokens" },
  { endpoint: "completions", rule: "max_completion_tokens", client: "max_tokens" },
];

/** All that a model may not support, in names that clients of other vendors have. */
const unsupported: Readonly<
  Record<keyof typeof calls, readonly (readonly [rule: string, client: string, value: unknown])[]>
> = {
  embeddings: [
    ["dimensions", "output_dimension", 8],
    ["output_dimension", "dimensions", 8],
    ["truncate", "truncation", true],
    ["truncation", "truncate", "END"],
    ["task", "input_type", "query"],
    ["encoding_format", "embedding_type", "float"],
  ],
  rerank: [
    ["top_n", "top_n", 1],
    ["top_n", "top_k", 1],
    ["truncate", "truncation", true],
  ],
  completions: [["max_tokens", "max_completion_tokens", 4]],
};
/** Servers that take completions under `max_tokens` alone: what routes say of chat's name must not uncap them. */
const withoutChatsCap = { name: "max_completion_tokens", support: "Unsupported" };

const channels = {
  embeddings: ["OpenAI", "Voyage", "Jina"],
  rerank: ["Jina", "Voyage"],
  completions: [undefined],
} as const;
const endpoints = ["embeddings", "rerank", "completions"] as const;
const types = { embeddings: "Embeddings", rerank: "Rerank", completions: "Completions" } as const;
const capabilities = ["Embeddings", "Rerank", "Completion"];

function nameOf(...parts: readonly (string | undefined)[]): string {
  return parts.map((part = "own") => part.toLowerCase().replaceAll("_", "-")).join("-");
}

function reply({ target }: ReceivedRequest): ScriptedReply {
  if (target.includes("rerank")) return { body: JSON.stringify({ results: [{ index: 0, relevance_score: 0.5 }] }) };
  return { body: JSON.stringify(target.includes("embeddings") ? replies.openAI() : wholeCompletion) };
}

/** A channel of one endpoint's dialect, and a route for each rule. */
function manifestsOf(endpoint: keyof typeof calls, dialect: string | undefined, origin: string): readonly object[] {
  const channel = nameOf(endpoint, dialect);
  const formats = [{ type: types[endpoint], path: `/${endpoint}`, ...(dialect && { dialect }) }];
  const targets = [{ name: "main", channelRef: { name: channel }, upstreamModel: "m" }];
  const routeOf = (name: string, ...parameters: readonly object[]): object =>
    routeManifest(name, { capabilities, targets, parameters });
  const without = new Set(unsupported[endpoint].map(([name]) => name));
  const limited = new Set(spelled.filter((one) => one.endpoint === endpoint).map((one) => one.rule));
  return [
    channelManifest(channel, origin, { formats }),
    routeOf(channel),
    routeOf(nameOf(channel, "without-chats-cap"), withoutChatsCap),
    ...[...without].map((name) => routeOf(nameOf(channel, "without", name), { name, support: "Unsupported" })),
    ...[...limited].map((name) => routeOf(nameOf(channel, "up-to", name), { name, maximum: "64" })),
  ];
}

describe("parameters of several names", () => {
  const rig = useEndpointRig({
    path: "/v1/embeddings",
    reply,
    manifests: (origin) =>
      endpoints.flatMap((endpoint) => channels[endpoint].flatMap((dialect) => manifestsOf(endpoint, dialect, origin))),
  });

  function call(endpoint: keyof typeof calls, model: string, members: object): Promise<HttpAnswer> {
    const { path, body } = calls[endpoint];
    return rig.call({ model, ...body, ...members }, { path });
  }

  for (const { endpoint, rule, client } of spelled) {
    it(`${endpoint}: the range of ${rule} holds for ${client}`, async () => {
      for (const dialect of channels[endpoint]) {
        const model = nameOf(endpoint, dialect, "up-to", rule);
        const answer = await call(endpoint, model, { [client]: 65 });
        assert.equal(answer.status, 400, answer.body.toString());
        assert.equal(at(answer.json(), "error", "param"), client);
        assert.equal(rig.upstream.requests.length, 0);
        assert.equal((await call(endpoint, model, { [client]: 64 })).status, 200);
        rig.upstream.forget();
      }
    });
  }

  for (const endpoint of endpoints) {
    for (const dialect of channels[endpoint]) {
      for (const [rule, client, value] of unsupported[endpoint]) {
        it(`${nameOf(endpoint, dialect)}: a model without ${rule} does not get ${client} by any name`, async () => {
          const answer = await call(endpoint, nameOf(endpoint, dialect, "without", rule), { [client]: value });
          assert.equal(answer.status, 200, answer.body.toString());
          assert.equal(answer.header("x-tollgate-dropped"), client);
          const sent = Object.keys(Object(rig.upstream.requests[0]?.json()));
          assert.deepEqual(
            sent.filter((name) => name !== "return_documents").sort(),
            ["model", ...Object.keys(calls[endpoint].body)].sort(),
          );
        });
      }
    }
  }

  it("completions: the cap stays where the model lacks chat's name of it", async () => {
    for (const name of ["max_tokens", "max_completion_tokens"]) {
      rig.upstream.forget();
      const answer = await call("completions", "completions-own-without-chats-cap", { [name]: 4 });
      assert.deepEqual([answer.status, answer.header("x-tollgate-dropped")], [200, undefined]);
      assert.equal(at(rig.upstream.requests[0]?.json(), "max_tokens"), 4);
    }
  });

  it("completions: the cap goes out under the name that bounds the output there", async () => {
    for (const [members, want] of [
      [{ max_completion_tokens: 4 }, 4],
      [{ max_tokens: null, max_completion_tokens: 4 }, 4],
      [{ max_tokens: 3, max_completion_tokens: 4 }, 3],
      [{ max_tokens: 3 }, 3],
    ] as const) {
      rig.upstream.forget();
      assert.equal((await call("completions", "completions-own", members)).status, 200);
      const sent = rig.upstream.requests[0]?.json();
      assert.deepEqual([at(sent, "max_tokens"), at(sent, "max_completion_tokens")], [want, undefined]);
    }
  });
});
