/**
 * Says in the gateway's own table of errors why the HTTP/1.1 server refuses a request: the only place that knows both.
 * Needed wherever a refusal leaves `proxy/http1/`: with the head of a request, in the middle of its body, and before
 * there is a request at all.
 */
import { type ErrorCode, GatewayError } from "#proxy/errors";
import type { HttpError, HttpErrorCode } from "#proxy/http1/wire/http-error";

const codes: Readonly<Record<HttpErrorCode, ErrorCode>> = {
  HTTP_SYNTAX: "bad_request_header",
  HEAD_TOO_LARGE: "headers_too_large",
  AMBIGUOUS_FRAMING: "bad_request_framing",
  UNKNOWN_EXPECTATION: "expectation_failed",
  UNSERVED_METHOD: "method_not_allowed",
  REQUEST_TIMEOUT: "request_timeout",
};

/** The message stays: it is written for the client. */
export function gatewayErrorOf(refusal: HttpError): GatewayError {
  const options = refusal.code === "UNSERVED_METHOD" ? { allow: "GET, POST" } : {};
  return new GatewayError(codes[refusal.code], refusal.message, options);
}
