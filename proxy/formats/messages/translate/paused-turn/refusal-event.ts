/**
 * Turns a reply with an error status into the event that ends a stream (docs/design/messages.md 8). Pure.
 */
import { isObject, type JsonObject, member, parseJson } from "#proxy/json/json-value";

const typeByStatus: ReadonlyMap<number, string> = new Map([
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [408, "timeout_error"],
  [413, "request_too_large"],
  [429, "rate_limit_error"],
  [503, "overloaded_error"],
  [504, "timeout_error"],
  [529, "overloaded_error"],
]);

/** The provider's own words where the body has them. */
export function refusalEvent(status: number, body: Buffer): { readonly type: "error"; readonly json: JsonObject } {
  const told = member(parseJson(body.toString("utf8")), "error");
  return {
    type: "error",
    json: { type: "error", error: isObject(told) ? told : { type: typeOf(status), message: "" } },
  };
}

function typeOf(status: number): string {
  const isRequest = status >= 400 && status < 500;
  return typeByStatus.get(status) ?? (isRequest ? "invalid_request_error" : "api_error");
}
