/** What vendors with the shape of OpenAI's `/v1/embeddings` get of a client's fields, and what is declared or refused. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { EmbeddingPath } from "#proxy/endpoints/embeddings/call/embedding-call";
import { readEmbeddings } from "#proxy/endpoints/embeddings/call/read-embeddings";
import { jinaDialect, voyageDialect } from "#proxy/endpoints/embeddings/dialects/list-dialect";
import { GatewayError } from "#proxy/errors";
import { defaultLimits } from "#proxy/limits";
import type { Channel } from "#proxy/snapshot/types.gen";
import { channelOf, usualPrivacy } from "#test/support/calls/read-body";

const path: EmbeddingPath = { protocol: "OpenAI", format: "Embeddings", capability: "Embeddings" };
const stripping: Partial<Channel> = { privacy: { ...usualPrivacy, clientMetadata: "Strip" } };

interface Case {
  readonly name: string;
  readonly dialect?: typeof voyageDialect;
  readonly fields: object;
  readonly channel?: Partial<Channel>;
  readonly sent: object;
  /** Declared, and refused under `Reject`. */
  readonly lost?: readonly string[];
}

const rows: readonly Case[] = [
  { name: "Voyage: a user, whom it does not know", fields: { user: "u" }, sent: {}, lost: ["user"] },
  { name: "Voyage: a user who would not have gone out", fields: { user: "u" }, channel: stripping, sent: {} },
  { name: "Voyage: no user", fields: { user: null }, sent: {} },
  { name: "Voyage: a text cut at its end", fields: { truncate: "END" }, sent: { truncation: true } },
  { name: "Voyage: no text cut", fields: { truncate: "NONE" }, sent: { truncation: false } },
  { name: "Voyage: a text cut at its start", fields: { truncate: "START" }, sent: {}, lost: ["truncate"] },
  { name: "Voyage: nothing said of it", fields: { truncate: null }, sent: {} },
  {
    name: "Jina: what it calls so itself is for it to judge",
    dialect: jinaDialect,
    fields: { truncate: "START" },
    sent: { truncate: "START" },
  },
  { name: "Jina: Voyage's flag", dialect: jinaDialect, fields: { truncation: true }, sent: { truncate: true } },
  {
    name: "Jina: a text cut at its start, by Voyage's name",
    dialect: jinaDialect,
    fields: { truncation: "START" },
    sent: {},
    lost: ["truncation"],
  },
];

describe("fields of OpenAI's clients at other vendors", () => {
  for (const { name, dialect = voyageDialect, fields, channel = {}, sent, lost = [] } of rows) {
    const call = readEmbeddings(
      Buffer.from(JSON.stringify({ model: "m", input: "a", ...fields })),
      path,
      defaultLimits,
    );
    const write = (changes: Partial<Channel>) =>
      dialect.write(call, {
        channel: channelOf({ ...channel, ...changes }),
        upstreamModel: "up",
        targetRules: undefined,
        outputCap: undefined,
      });

    it(name, () => {
      const { body, dropped } = write({});
      assert.deepEqual(JSON.parse(String(body)), { model: "up", input: "a", ...sent });
      assert.deepEqual(dropped, lost);
    });

    it(`${name}, where the channel refuses what is lost`, () => {
      const [param] = lost;
      const strict = () => write({ unsupportedParameters: "Reject" });
      if (param === undefined)
        assert.deepEqual(JSON.parse(String(strict().body)), { model: "up", input: "a", ...sent });
      else assert.throws(strict, (error: unknown) => error instanceof GatewayError && error.param === param);
    });
  }
});
