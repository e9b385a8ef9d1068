/** The class of an error: the provider's own words first, then the status. */
import { at, type ErrorFact, list, text } from "./facts.ts";

const byWord: readonly (readonly [string, RegExp])[] = [
  ["quota", /insufficient_quota|billing/],
  ["auth", /invalid_api_key|api_key_invalid|authentication|unauthenticated/],
  ["permission", /permission/],
  ["overloaded", /overloaded|unavailable/],
  ["rate_limit", /rate_limit|resource_exhausted/],
  ["too_large", /too_large/],
  ["not_found", /not_found/],
  ["timeout", /timeout|deadline/],
  ["cancelled", /cancelled/],
  ["content_filter", /content_filter|content_policy/],
  ["invalid_request", /invalid|unsupported/],
  ["server", /server_error|api_error|internal/],
];

const byStatus: Readonly<Record<number, string>> = {
  400: "invalid_request",
  401: "auth",
  402: "quota",
  403: "permission",
  404: "not_found",
  408: "timeout",
  413: "too_large",
  422: "invalid_request",
  429: "rate_limit",
  499: "cancelled",
  503: "overloaded",
  504: "timeout",
  529: "overloaded",
};

/** @param holder an object with `error`, or the error itself */
export function readError(holder: unknown, httpStatus?: number): ErrorFact {
  const first = Array.isArray(holder) ? holder[0] : holder;
  const error = at(first, "error") ?? first;
  const words = [
    at(error, "type"),
    at(error, "code"),
    at(error, "status"),
    ...list(at(error, "details")).map((detail) => at(detail, "reason")),
  ]
    .map(text)
    .join(" ")
    .toLowerCase();
  const stated = [at(error, "code"), at(error, "status_code"), httpStatus].find((code) => typeof code === "number");
  const word = byWord.find(([, pattern]) => pattern.test(words))?.[0];
  return { cls: word ?? byStatus[Number(stated)] ?? "server", message: text(at(error, "message")) || text(error) };
}
