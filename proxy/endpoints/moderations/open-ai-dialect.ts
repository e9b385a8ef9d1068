/** Passes calls of `/v1/moderations` on to upstreams that serve the same. */
import type { Dialect, Dialects } from "#proxy/endpoints/dialects/dialect";
import { editJsonBody } from "#proxy/endpoints/dialects/edit-json-body";
import { WholeReader, type WholeReading } from "#proxy/endpoints/dialects/whole-reader";
import { asList, member, parseJson } from "#proxy/json/json-value";
import type { ModerationCall } from "./read-moderation.ts";

const openAI: Dialect<ModerationCall> = {
  write: ({ body }, plan) => editJsonBody(body, "Moderations", plan),
  reader: () => new WholeReader(readReply),
};

/** There is no other format of it. */
export const moderationDialects: Dialects<ModerationCall> = {
  formatsFor: () => ["Moderations"],
  dialectOf: () => openAI,
};

function readReply(body: Buffer): WholeReading | undefined {
  const results = asList(member(parseJson(body.toString("utf8")), "results"));
  return results.length === 0 ? undefined : { usage: undefined, response: () => body };
}
