/** Reads a whole response (docs/design/responses.md 4). */

import { readUsage } from "#proxy/formats/responses/native/read-usage";
import { asText, isObject, type JsonObject } from "#proxy/json/json-value";
import { InvalidReply, type Reply } from "#proxy/neutral/reply";
import { checkArguments, contentOf, readFinish } from "./finish.ts";
import { readItem } from "./read-items.ts";

/** @throws InvalidReply for a body without output, or of a response that failed or is not over */
export function readReply(response: JsonObject, declared: ReadonlySet<string> = new Set()): Reply {
  const output = response["output"];
  if (!Array.isArray(output)) throw new InvalidReply("the response has no output");
  if (!isOver(response)) throw new InvalidReply("the response has not ended");
  const items = output.filter(isObject);
  const blocks = items.flatMap((item) => readItem(item, declared));
  const finish = readFinish(response, contentOf(blocks));
  // A call that was cut is no mistake; one that the model garbled must not pass for a reply.
  const isCut = finish.reason === "length" || finish.reason === "content-filter";
  if (!isCut && !items.every(checkArguments)) {
    throw new InvalidReply("the arguments of a call are not JSON");
  }
  return {
    id: asText(response["id"]) || undefined,
    model: asText(response["model"]) || undefined,
    serviceTier: asText(response["service_tier"]) || undefined,
    candidates: [{ blocks, finish }],
    usage: readUsage(response),
  };
}

/** A stream that goes no further is an error, so its body is one too (docs/design/translation.md 9.3). */
function isOver(response: JsonObject): boolean {
  const { status } = response;
  // Relays send the status of the beginning with a reason of the end.
  return (status !== "queued" && status !== "in_progress") || isObject(response["incomplete_details"]);
}
