/**
 * Logs why an upstream was not reached or broke off. The client is told little of our side: the log tells the operators which
 * name, certificate or port it was.
 */
import type { SelectedTarget } from "#proxy/route/select-target";
import type { UpstreamFailure } from "#proxy/upstream/upstream-exchange";
import type { AdmittedCall } from "./admitted-call.ts";

export function logFailedAttempt(
  { record, services }: Pick<AdmittedCall, "record" | "services">,
  { target }: SelectedTarget,
  { kind, cause }: UpstreamFailure,
): void {
  services.log.warn("an attempt on an upstream failed", {
    request: record.requestId,
    channel: target.channel,
    kind,
    cause: cause instanceof Error ? cause : undefined,
  });
}
