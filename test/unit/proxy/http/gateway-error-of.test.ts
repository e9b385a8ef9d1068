import assert from "node:assert/strict";
import { errorTable } from "#proxy/errors";
import { gatewayErrorOf } from "#proxy/http/gateway-error-of";
import { HttpError } from "#proxy/http1/wire/http-error";

describe("gatewayErrorOf", () => {
  for (const [code, want, status, allow] of [
    ["HTTP_SYNTAX", "bad_request_header", 400, undefined],
    ["HEAD_TOO_LARGE", "headers_too_large", 431, undefined],
    ["AMBIGUOUS_FRAMING", "bad_request_framing", 400, undefined],
    ["UNKNOWN_EXPECTATION", "expectation_failed", 417, undefined],
    ["UNSERVED_METHOD", "method_not_allowed", 405, "GET, POST"],
    ["REQUEST_TIMEOUT", "request_timeout", 408, undefined],
  ] as const) {
    it(`answers ${code} with ${want}, in the same words`, () => {
      const error = gatewayErrorOf(new HttpError(code, "Words for the client."));
      assert.deepEqual(
        [error.code, errorTable[error.code].status, error.allow, error.message],
        [want, status, allow, "Words for the client."],
      );
    });
  }
});
