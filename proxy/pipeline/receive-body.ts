/**
 * Receives the body of a call: JSON, a form where the endpoint takes one, or whatever comes where it passes that on, and has the endpoint read it.
 *
 * `handle-request.ts` calls it when the head has been authenticated, and releases what it received on every way out.
 */
import type { Caller } from "#proxy/dispatch/admitted-call";
import type { BodyEndpoint, Match } from "#proxy/endpoints/endpoint";
import type { ModelCall } from "#proxy/formats/model-call";
import { checkAnyContentType, checkJsonContentType } from "#proxy/http/content-rules";
import { readForm } from "#proxy/http/form/read-form";
import { type RequestBody, readBody } from "#proxy/http/read-body";
import type { ProxyLimits } from "#proxy/limits";
import type { Form } from "#proxy/multipart/form";
import { isForm } from "#proxy/multipart/form-content-type";

export type ReceivedBody = RequestBody | Form;

/**
 * A key whose bodies hold their share is told so before its client is asked for another.
 * @throws GatewayError 400, 408, 413, 415, 503; `ClientGoneError`
 */
export function receiveBody(
  { exchange, services, found, inFlightBytes }: Caller,
  endpoint: BodyEndpoint,
): ReceivedBody | Promise<ReceivedBody> {
  const { request, response } = exchange;
  const { limits, bodiesUnderWay, spool } = services;
  bodiesUnderWay.checkRoom(found.key); //                                                                     503
  const ask = response.expectsContinue ? () => response.writeContinue() : undefined;
  const takesForm = endpoint.body === "form" && (endpoint.read === undefined || isForm(request.rawHeaders));
  const body = takesForm
    ? readForm(request, {
        limits,
        repeated: endpoint.repeatedParts,
        spool: spool.ofCall(found.key),
        inFlight: inFlightBytes,
        ask,
      }) //                                                                                    400 408 413 415 503
    : readBody(request, limits, inFlightBytes, ask, contentRules[endpoint.body]); //           400 408 413 415 503
  return body instanceof Promise ? bodiesUnderWay.waitFor<ReceivedBody>(found.key, body) : body;
}

/** What a body that is no form may be labelled as. */
const contentRules = { any: checkAnyContentType, json: checkJsonContentType, form: checkJsonContentType } as const;

/** What came over the wire. */
export function bytesOf(body: ReceivedBody): number {
  return isFormBody(body) ? body.bodyBytes : body.bytes.length;
}

/** @throws GatewayError 400 */
export function readCall(
  endpoint: BodyEndpoint,
  body: ReceivedBody,
  match: Match,
  limits: ProxyLimits,
): ModelCall | Promise<ModelCall> {
  if (!isFormBody(body) && endpoint.read !== undefined) return endpoint.read(body.bytes, match, limits);
  if (isFormBody(body) && endpoint.body === "form") return endpoint.readForm(body, match, limits);
  throw new TypeError(`a body of the wrong kind was received for ${endpoint.name}`);
}

/** Once, on every way out. */
export function releaseBody(body: ReceivedBody, { inFlightBytes }: Caller): void {
  if (isFormBody(body)) body.release();
  else inFlightBytes.release(body.heldBytes);
}

function isFormBody(body: ReceivedBody): body is Form {
  return "parts" in body;
}
