/** Writes the error members of a response that failed (docs/design/responses.md 6.4). */
import type { GatewayError } from "#proxy/errors";
import type { ErrorContext } from "#proxy/formats/format";
import { errorObject } from "#proxy/formats/render-error";
import { responseCode } from "#proxy/formats/responses/native/stream-error";
import { asText, type JsonObject, memberAt } from "#proxy/json/json-value";

export interface Failure {
  /** Members of the `error` event, which clients look for in two places. */
  readonly details: {
    readonly type: unknown;
    readonly code: unknown;
    readonly message: string;
    readonly param: unknown;
  };
  /** `error` of the failed response, with a code that strict decoders know. */
  readonly responseError: JsonObject;
}

export function failureOf(error: GatewayError, context: ErrorContext): Failure {
  const rendered = errorObject(error, "OpenAI", context);
  const read = (name: string): unknown => memberAt(rendered, "error", name);
  const message = asText(read("message"));
  return {
    details: { type: read("type"), code: read("code"), message, param: read("param") ?? null },
    responseError: { code: responseCode(error), message },
  };
}
