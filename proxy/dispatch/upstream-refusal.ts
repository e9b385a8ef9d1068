/** Renders an upstream's refusal for the client: in the client's own terms, without a secret of the channel. */

import type { GatewayError } from "#proxy/errors";
import { toClientError } from "#proxy/formats/client-error";
import type { UpstreamError } from "#proxy/formats/format";
import type { ModelCall } from "#proxy/formats/model-call";
import type { SelectedTarget } from "#proxy/route/select-target";
import { upstreamModelOf } from "#proxy/route/upstream-model";
import { secretsOf } from "#proxy/upstream/request/request-headers";
import type { AdmittedCall } from "./admitted-call.ts";

/** What is told of a call that was refused. */
export interface RefusedCall extends Pick<AdmittedCall, "record" | "route" | "services"> {
  readonly call: Pick<ModelCall, "model">;
}

/** Logs it, without its words, and says it in the client's. */
export function upstreamRefusal(admitted: AdmittedCall, selected: SelectedTarget, error: UpstreamError): GatewayError {
  return sameFormatRefusal(admitted, selected, inClientsWords(error, selected, admitted.call));
}

/** The same where client and upstream speak one format: its fields are the client's. */
export function sameFormatRefusal(
  { call, record, route, services }: RefusedCall,
  selected: SelectedTarget,
  error: UpstreamError,
): GatewayError {
  services.log.warn("an upstream refused a call", {
    request: record.requestId,
    channel: selected.target.channel,
    kind: error.kind,
    status: error.status,
  });
  return toClientError(error, {
    publicModel: call.model,
    upstreamModel: upstreamModelOf({ ...selected, route }, call.model),
    requestId: record.requestId,
    channelSecrets: secretsOf(selected.channel, selected.credential),
  });
}

/** A field that an upstream of another format complains of may not be one of the client's. */
function inClientsWords(error: UpstreamError, { format }: SelectedTarget, call: ModelCall): UpstreamError {
  if (error.param === undefined || format === call.endpoint.format) return error;
  const [first = ""] = error.param.split(/[.[]/);
  const isPath = first !== error.param;
  return !isPath && call.body?.member(first) !== undefined ? error : { ...error, param: undefined };
}
