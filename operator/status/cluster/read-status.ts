/**
 * Reads the status of an object of the API server into the form that we would write, to compare the two and to go on
 * from the previous leader's. Parts in another form are left out: they then differ and are written again.
 */
import { type ApiObject, isRecord } from "#operator/kubernetes/api/api-object";
import type { OwnKind } from "#operator/resources/resource";
import type { Condition } from "#operator/resources/types.gen";
import type { ConditionPool } from "#operator/status/condition-pool";
import type { Status, StatusDocument } from "#operator/status/status-document";

/** @returns undefined when no status was written yet */
export function readStatus(kind: OwnKind, object: ApiObject, pool: ConditionPool): StatusDocument | undefined {
  const { metadata, status } = object;
  if (!isRecord(status) || !Array.isArray(status["conditions"])) return undefined;
  const conditions = status["conditions"].flatMap((item: unknown) => {
    const condition = readCondition(item);
    return condition === undefined ? [] : [pool.share(condition)];
  });
  if (conditions.length === 0) return undefined;
  return {
    apiVersion: "tollgate.dev/v1alpha1",
    kind,
    metadata: { namespace: metadata.namespace ?? "", name: metadata.name },
    // The API server has checked the other members against the schema that the types come from.
    status: { ...(status as Status), conditions },
  };
}

/**
 * The field manager that wrote the status last, when it was not ours.
 *
 * @param ownManager the field manager of all operators
 */
export function foreignManagerOf({ metadata }: ApiObject, ownManager: string): string | undefined {
  const { managedFields } = metadata;
  let last = { manager: ownManager, time: "" };
  for (const entry of Array.isArray(managedFields) ? managedFields : []) {
    if (!isRecord(entry) || entry["subresource"] !== "status") continue;
    const { manager, time = "" } = entry;
    if (typeof manager !== "string" || typeof time !== "string" || time < last.time) continue;
    // Times are whole seconds: a later write may have the same time.
    if (time > last.time || manager !== ownManager) last = { manager, time };
  }
  return last.manager === ownManager ? undefined : last.manager;
}

function readCondition(value: unknown): Condition | undefined {
  if (!isRecord(value)) return undefined;
  const { type, status, reason, message, observedGeneration, lastTransitionTime } = value;
  if (status !== "True" && status !== "False" && status !== "Unknown") return undefined;
  if (typeof type !== "string" || typeof reason !== "string" || typeof message !== "string") return undefined;
  if (typeof lastTransitionTime !== "string") return undefined;
  return {
    type,
    status,
    reason,
    message,
    ...(typeof observedGeneration === "number" && { observedGeneration }),
    lastTransitionTime,
  };
}
