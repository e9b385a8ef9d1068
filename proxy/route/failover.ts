/**
 * Decides whether a failed attempt may be followed by one on another target (PURE).
 *
 * It may only before the first byte has gone to the client, only for the conditions of the route's `failover.on` (or
 * its own `statuses`), and within the route's count and time. A client's own error is never tried elsewhere.
 */
import type { UpstreamError } from "#proxy/formats/format";
import { upstreamErrors } from "#proxy/formats/upstream-errors";
import type { Route } from "#proxy/snapshot/types.gen";

export type FailoverCondition = Route["failover"]["on"] extends readonly (infer Condition)[] | undefined
  ? Condition
  : never;

export interface FailedAttempt {
  readonly condition: FailoverCondition | undefined;
  /** HTTP status of the upstream; undefined when none came. */
  readonly status: number | undefined;
}

export function failedByError(error: UpstreamError): FailedAttempt {
  return { condition: upstreamErrors[error.kind].failover, status: error.status };
}

/** @param elapsedMs since the first attempt began */
export function mayFailOver(route: Route, failed: FailedAttempt, attempts: number, elapsedMs: number): boolean {
  const { failover } = route;
  if (attempts >= failover.maxAttempts) return false;
  if (failover.withinFirstMs > 0 && elapsedMs > failover.withinFirstMs) return false;
  if (failed.status !== undefined && failover.statuses?.includes(failed.status) === true) return true;
  return failed.condition !== undefined && failover.on.includes(failed.condition);
}
