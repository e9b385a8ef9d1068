/** Says rerank calls to upstreams of each dialect and reads their replies. */
import type { Dialect, Dialects } from "#proxy/endpoints/dialects/dialect";
import { WholeReader, type WholeReading } from "#proxy/endpoints/dialects/whole-reader";
import { parseJson } from "#proxy/json/json-value";
import { membersNamed } from "#proxy/parameters/member-rules";
import { readRanking } from "./read-ranking.ts";
import { type RerankCall, rerankSpellings } from "./read-rerank.ts";
import { writeRanking } from "./write-ranking.ts";
import { type RerankDialectName, writeRerank } from "./write-rerank.ts";

function dialect(name: RerankDialectName): Dialect<RerankCall> {
  return {
    write: (call, plan) => writeRerank(call, name, plan),
    reader: (call) => new WholeReader((body) => read(body, call, name)),
  };
}

const dialects: Readonly<Record<RerankDialectName, Dialect<RerankCall>>> = {
  Jina: dialect("Jina"),
  Cohere: dialect("Cohere"),
  Voyage: dialect("Voyage"),
  TEI: dialect("TEI"),
};

export const rerankDialects: Dialects<RerankCall> = {
  formatsFor: () => ["Rerank"],
  // Nobody's own is that of Jina, which most servers speak; OpenAI has none.
  dialectOf: (_call, { dialect: name = "Jina" }) => dialects[name === "OpenAI" ? "Jina" : name],
  namesIn: ({ body }, name) => membersNamed(body, rerankSpellings)(name),
};

function read(body: Buffer, call: RerankCall, dialect: RerankDialectName): WholeReading | undefined {
  const json = parseJson(body.toString("utf8"));
  const ranking = readRanking(json, call.documents.length);
  if (ranking === undefined) return undefined;
  return { usage: ranking.usage, response: () => writeRanking(call, { body, json, ranking, dialect }) };
}
