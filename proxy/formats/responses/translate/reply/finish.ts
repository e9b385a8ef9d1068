/** Converts the reasons for which a response ended, both ways (docs/design/translation.md 8.1). */
import { asText, isObject, type JsonObject, memberAt, parseJson } from "#proxy/json/json-value";
import { type Finish, InvalidReply, type ReplyBlock } from "#proxy/neutral/reply";

/** The content of a reply that decides its finish. */
export interface Content {
  readonly hasCall: boolean;
  readonly hasRefusal: boolean;
}

export function contentOf(blocks: readonly ReplyBlock[]): Content {
  return {
    hasCall: blocks.some(({ kind }) => kind === "call"),
    hasRefusal: blocks.some(({ kind }) => kind === "refusal"),
  };
}

/**
 * @param isIncomplete the event that ends the stream says so
 * @throws InvalidReply for a response that failed or was cancelled: it is an error and not a reply
 */
export function readFinish(response: JsonObject, { hasCall, hasRefusal }: Content, isIncomplete = false): Finish {
  const { status } = response;
  const hasFailed = status === "failed" || status === "cancelled" || isObject(response["error"]);
  if (hasFailed) throw new InvalidReply("the response failed");
  const reason = asText(memberAt(response, "incomplete_details", "reason"));
  // Relays leave the status out, or send the one of the beginning: each of the three signs is enough.
  if (isIncomplete || status === "incomplete" || reason !== "") return readIncomplete(reason, hasCall);
  return { reason: hasCall ? "tool-calls" : hasRefusal ? "refusal" : "stop" };
}

function readIncomplete(reason: string, hasCall: boolean): Finish {
  // Without a word why, it was cut all the same, and no client may take it for whole.
  if (reason === "max_output_tokens" || reason === "max_tokens" || reason === "") return { reason: "length" };
  if (reason === "content_filter") return { reason: "content-filter" };
  return { reason: hasCall ? "tool-calls" : "other" };
}

/** Whether a function call's arguments are JSON; true for every other item. */
export function checkArguments(item: JsonObject): boolean {
  const given = item["arguments"];
  if (item["type"] !== "function_call" || typeof given !== "string" || given.trim() === "") return true;
  return parseJson(given) !== undefined;
}

/** How the response's status says it. */
export interface ResponseEnd {
  readonly status: "completed" | "incomplete";
  readonly reason: "max_output_tokens" | "content_filter" | undefined;
}

export function writeFinish({ reason }: Finish): ResponseEnd {
  // A continuation has no word here, and half a reply must not look whole.
  if (reason === "length" || reason === "context" || reason === "continuation") {
    return { status: "incomplete", reason: "max_output_tokens" };
  }
  if (reason === "content-filter") return { status: "incomplete", reason: "content_filter" };
  return { status: "completed", reason: undefined };
}
