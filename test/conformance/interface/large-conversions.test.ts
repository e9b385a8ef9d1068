/**
 * docs/design/reliability.md P8: a large body that an endpoint other than chat converts waits for its turn, and counts with
 * what is made of it, as those of chat do.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { replies as vectors } from "#test/support/conformance/embedding-rig";
import { useEndpointRig } from "#test/support/conformance/endpoint-rig";
import { channelManifest, routeManifest } from "#test/support/conformance/manifests";
import { naturalReply } from "#test/support/conformance/natural-replies";
import type { ScriptedReply } from "#test/support/fake-upstream";
import { waitFor } from "#test/support/wait-for";

const MiB = 1024 * 1024;
const text = "é".padEnd(2 * MiB, "a");

interface Row {
  readonly name: string;
  readonly path: string;
  readonly capability: string;
  readonly formats: readonly object[];
  readonly body: object;
  readonly reply?: object;
  /** Of the body, what is held beside it while its reply is waited for. */
  readonly held: number;
}

const rows: readonly Row[] = [
  {
    name: "texts for vectors of Cohere's",
    path: "/v1/embeddings",
    capability: "Embeddings",
    formats: [{ type: "Embeddings", dialect: "Cohere" }],
    body: { input: [text] },
    reply: vectors.cohere(),
    held: 3,
  },
  {
    name: "texts for vectors of Google's",
    path: "/v1/embeddings",
    capability: "Embeddings",
    formats: [{ type: "EmbedContent", path: "/v1beta/models/{model}:{verb}" }],
    body: { input: [text] },
    reply: vectors.google(),
    held: 3,
  },
  {
    name: "documents to be ranked",
    path: "/v1/rerank",
    capability: "Rerank",
    formats: [{ type: "Rerank", dialect: "TEI" }],
    body: { query: "q", documents: [{ text }] },
    reply: [{ index: 0, score: 0.5 }],
    held: 3,
  },
  {
    name: "a prompt that is asked in chat",
    path: "/v1/completions",
    capability: "Completion",
    formats: [{ type: "ChatCompletions" }],
    body: { prompt: text, max_tokens: 4 },
    held: 1,
  },
  {
    name: "texts for vectors of the client's own form",
    path: "/v1/embeddings",
    capability: "Embeddings",
    formats: [{ type: "Embeddings" }],
    body: { input: [text] },
    reply: vectors.openAI(),
    held: 0,
  },
];

function manifests(origin: string): readonly object[] {
  return rows.flatMap(({ capability, formats }, index) => [
    channelManifest(`m-${index}`, origin, { formats }),
    routeManifest(`m-${index}`, { capabilities: [capability] }),
  ]);
}

const bodies = rows.map((row, index) => ({ ...row, body: JSON.stringify({ model: `m-${index}`, ...row.body }) }));

describe("a large body that is converted", () => {
  const rig = useEndpointRig({ path: "/v1/embeddings", limits: { inFlightBytesMax: 32 * MiB }, manifests });

  for (const { name, path, body, reply, held } of bodies) {
    it(`counts ${held} times beside itself, and is let go of: ${name}`, async () => {
      const waiting = Promise.withResolvers<void>();
      rig.upstream.replyWith(async (request): Promise<ScriptedReply> => {
        await waiting.promise;
        return reply === undefined ? naturalReply(request) : { body: JSON.stringify(reply) };
      });
      const answer = rig.call(body, { path });
      await waitFor("the call at the upstream", () => rig.upstream.requests.length === 1);
      assert.equal(rig.gateway.inFlightBytes, (1 + held) * Buffer.byteLength(body));
      waiting.resolve();
      assert.equal((await answer).status, 200, (await answer).body.toString("utf8", 0, 500));
      await waitFor("all to be let go of", () => rig.gateway.inFlightBytes === 0);
    });
  }
});

describe("a large body that has no room to be converted", () => {
  const rig = useEndpointRig({ path: "/v1/embeddings", limits: { inFlightBytesMax: 5 * MiB }, manifests });

  for (const { name, path, body } of bodies.filter(({ held }) => held > 0)) {
    it(`is refused, however often it is tried: ${name}`, async () => {
      const answer = await rig.call(body, { path });
      assert.equal(answer.status, 413, answer.body.toString("utf8", 0, 500));
      assert.equal(rig.upstream.requests.length, 0);
      await waitFor("all to be let go of", () => rig.gateway.inFlightBytes === 0);
    });
  }
});
