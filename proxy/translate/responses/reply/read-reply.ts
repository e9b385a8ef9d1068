/** Reads a whole response (`protocols/openai-responses.md` section 4). */
import { asText, isObject, type JsonObject } from "../../../protocols/json-value.ts";
import { readUsage } from "../../../protocols/responses/read-usage.ts";
import { InvalidReply, type Reply } from "../../reply.ts";
import { checkArguments, contentOf, readFinish } from "./finish.ts";
import { readItem } from "./read-items.ts";

/** @throws InvalidReply for a body without output, or of a response that failed */
export function readReply(response: JsonObject, declared: ReadonlySet<string> = new Set()): Reply {
  const output = response["output"];
  if (!Array.isArray(output)) throw new InvalidReply("the response has no output");
  if (isObject(response["error"])) throw new InvalidReply("the response failed");
  const items = output.filter(isObject);
  const blocks = items.flatMap((item) => readItem(item, declared));
  const finish = readFinish(response, contentOf(blocks));
  // A call that was cut is no mistake; one that the model garbled must not pass for an answer.
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
