/**
 * docs/design/reliability.md P8: a large body that an endpoint other than chat converts waits for its turn, and counts with
 * what is made of it, as those of chat do.
 */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { replies as vectors } from "#test/support/conformance/embedding-rig";
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
import { FakeUpstream, type ScriptedReply } from "#test/support/fake-upstream";
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

describe("a large body that is converted", () => {
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;
  let waiting: PromiseWithResolvers<void>;

  beforeEach(() => {
    waiting = Promise.withResolvers();
  });
  afterEach(async () => {
    waiting.resolve();
    await gateway?.close();
    await upstream?.close();
  });

  async function start({ capability, formats, reply }: Row, inFlightBytesMax = 32 * MiB): Promise<void> {
    upstream = await FakeUpstream.start(async (request): Promise<ScriptedReply> => {
      await waiting.promise;
      return reply === undefined ? naturalReply(request) : { body: JSON.stringify(reply) };
    });
    gateway = await InProcessGateway.start({
      limits: { inFlightBytesMax },
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("k"),
        channelManifest("m", upstream.origin, { formats }),
        routeManifest("m", { capabilities: [capability] }),
      ),
    });
  }

  function call({ path }: Row, body: string): Promise<HttpAnswer> {
    return httpCall({ origin: gateway.origin, path, headers: { authorization: `Bearer ${clientKey("k")}` }, body });
  }

  for (const row of rows) {
    const body = JSON.stringify({ model: "m", ...row.body });
    const length = Buffer.byteLength(body);

    it(`counts ${row.held} times beside itself, and is let go of: ${row.name}`, async () => {
      await start(row);
      const answer = call(row, body);
      await waitFor("the call at the upstream", () => upstream.requests.length === 1);
      assert.equal(gateway.inFlightBytes, (1 + row.held) * length);
      waiting.resolve();
      assert.equal((await answer).status, 200, (await answer).body.toString("utf8", 0, 500));
      await waitFor("all to be let go of", () => gateway.inFlightBytes === 0);
    });

    if (row.held === 0) continue;
    it(`is told where it never has room: ${row.name}`, async () => {
      await start(row, 5 * MiB);
      const answer = await call(row, body);
      assert.equal(answer.status, 413, answer.body.toString("utf8", 0, 500));
      assert.equal(upstream.requests.length, 0);
      await waitFor("all to be let go of", () => gateway.inFlightBytes === 0);
    });
  }
});
