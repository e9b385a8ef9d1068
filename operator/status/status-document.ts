/** The status of an object as its CRD defines it, from the compiler's facts and its conditions. Pure. */
import type { ObjectResult } from "../compile/result.ts";
import type {
  AccountStatus,
  ApiKeyStatus,
  ChannelStatus,
  Condition,
  ModelRouteStatus,
} from "../resources/types.gen.ts";

export type Status = ApiKeyStatus | ChannelStatus | ModelRouteStatus | AccountStatus;

export interface StatusDocument {
  readonly apiVersion: "tollgate.dev/v1alpha1";
  readonly kind: ObjectResult["kind"];
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly status: Status & { readonly conditions: readonly Condition[] };
}

/** @param attachedRoutes how many routes use the channel; read for channels only */
export function statusDocument(
  result: ObjectResult,
  conditions: Condition[],
  nowMs: number,
  attachedRoutes: number,
): StatusDocument {
  const { kind, namespace, name, generation } = result;
  const base = { apiVersion: "tollgate.dev/v1alpha1", kind, metadata: { namespace, name } } as const;
  const common = { observedGeneration: generation, conditions };
  switch (result.kind) {
    case "ApiKey":
      return { ...base, status: { ...common, credentials: keyCredentials(result, conditions, nowMs) } };
    case "Channel": {
      const credentials = result.credentials.map(({ name: own, resolved, reason }) => {
        return { name: own, resolved: resolved ? ("True" as const) : ("False" as const), reason };
      });
      return { ...base, status: { ...common, credentials, modelCount: result.modelCount, routes: attachedRoutes } };
    }
    case "ModelRoute": {
      const targets = result.targets.map(({ name: own, resolved, reason }) => {
        return { name: own, resolved: resolved ? ("True" as const) : ("False" as const), reason };
      });
      const targetCount = targets.filter(({ reason }) => reason === "Resolved").length;
      return { ...base, status: { ...common, targets, model: result.model, targetCount } };
    }
    case "Account":
      return { ...base, status: common };
    default:
      return result satisfies never;
  }
}

function keyCredentials(
  result: Extract<ObjectResult, { kind: "ApiKey" }>,
  conditions: readonly Condition[],
  nowMs: number,
): NonNullable<ApiKeyStatus["credentials"]> {
  const isProgrammed = conditions.some(({ type, status }) => type === "Programmed" && status === "True");
  const isServed = result.wireIds.length > 0;
  return result.credentials.map((credential) => {
    const { name, fingerprint, displayPrefix, secretResourceVersion, notBeforeMs = 0, usable } = credential;
    const isLive = notBeforeMs <= nowMs && (credential.notAfterMs ?? Number.POSITIVE_INFINITY) > nowMs;
    const served = usable && isServed;
    return {
      name,
      ...(fingerprint !== undefined && { fingerprint }),
      ...(displayPrefix !== undefined && { displayPrefix }),
      // The version is a promise that every ready proxy serves it (DESIGN.md section 3, ApiKey).
      ...(isProgrammed && secretResourceVersion !== undefined && { secretResourceVersion }),
      active: !served || !isLive ? "False" : isProgrammed ? "True" : "Pending",
      reason: !served
        ? "NotServed"
        : isLive
          ? isProgrammed
            ? "Active"
            : "Pending"
          : notBeforeMs > nowMs
            ? "NotYetValid"
            : "Expired",
    };
  });
}
