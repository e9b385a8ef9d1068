/** Passes calls of `/v1/moderations` on to upstreams that serve the same. */
import type { Dialect, Dialects } from "#proxy/endpoints/dialects/dialect";
import { editJsonBody } from "#proxy/endpoints/dialects/edit-json-body";
import { WholeReader, type WholeReading } from "#proxy/endpoints/dialects/whole-reader";
import { asList, isObject, member, parseJson } from "#proxy/json/json-value";
import type { ModerationCall } from "./read-moderation.ts";

const openAI: Dialect<ModerationCall> = {
  write: ({ body }, plan) => editJsonBody(body, "Moderations", plan),
  reader: ({ verdicts }) => new WholeReader((body) => readReply(body, verdicts)),
};

/** There is no other format of it. */
export const moderationDialects: Dialects<ModerationCall> = {
  formatsFor: () => ["Moderations"],
  dialectOf: () => openAI,
};

function readReply(body: Buffer, wanted: number | undefined): WholeReading | undefined {
  const results = asList(member(parseJson(body.toString("utf8")), "results"));
  const isWhole = wanted === undefined ? results.length > 0 : results.length === wanted;
  return isWhole && results.every(isVerdict) ? { usage: undefined, response: () => body } : undefined;
}

/** Some servers tell categories alone. */
function isVerdict(result: unknown): boolean {
  return typeof member(result, "flagged") === "boolean" || isObject(member(result, "categories"));
}
