/** Says that a model does not serve an endpoint, where that is known of all its targets. */
import { GatewayError } from "#proxy/errors";
import { isServedNowhere, type OtherWay } from "#proxy/route/select-target";
import type { WireFormat } from "#proxy/snapshot/types.gen";
import type { AuthorizedCall } from "./admitted-call.ts";

/**
 * A parameter error rather than an outage, since waiting helps nobody: no channel of the route speaks a format of the
 * endpoint, or their models lack its capability.
 *
 * @param instead as of `ServedCall`
 * @returns undefined where some target may serve the call at another time
 */
export function servedNowhere(
  { route, call, snapshot }: Pick<AuthorizedCall, "route" | "call" | "snapshot">,
  formats: readonly WireFormat[],
  instead?: OtherWay,
): GatewayError | undefined {
  const { model, endpoint } = call;
  if (!isServedNowhere({ route, model, capability: endpoint.capability, instead, formats }, snapshot)) return undefined;
  return new GatewayError("unsupported_endpoint", `The model '${model}' does not serve this endpoint.`, {
    param: "model",
  });
}
