/** Reads and writes the fields of a Lease that the election uses. */
import { type ApiObject, isRecord, leaseResource } from "#operator/kubernetes/api/api-object";
import type { OwnerReference } from "#operator/kubernetes/installation/release-owner";

export interface LeaseRecord {
  readonly resourceVersion: string;
  /** `ip:port`; empty: released. */
  readonly holder: string;
  readonly holderPod: string | undefined;
  readonly durationMs: number;
  readonly transitions: number;
  readonly acquireTime: string | undefined;
  readonly renewTime: string | undefined;
}

/** The pod of the holder: an address may be given to another pod. */
const holderPodAnnotation = "tollgate.dev/holder-pod";

export function readLease({ metadata, spec }: ApiObject): LeaseRecord {
  const { holderIdentity, leaseDurationSeconds, leaseTransitions, acquireTime, renewTime } = isRecord(spec) ? spec : {};
  return {
    resourceVersion: metadata.resourceVersion ?? "",
    holder: typeof holderIdentity === "string" ? holderIdentity : "",
    holderPod: metadata.annotations?.[holderPodAnnotation],
    durationMs: typeof leaseDurationSeconds === "number" ? leaseDurationSeconds * 1_000 : 0,
    transitions: typeof leaseTransitions === "number" ? leaseTransitions : 0,
    acquireTime: typeof acquireTime === "string" ? acquireTime : undefined,
    renewTime: typeof renewTime === "string" ? renewTime : undefined,
  };
}

/** Whether nobody renewed or acquired it in between. Labels and the like, which anybody may edit, do not count. */
export function isSameTerm(one: LeaseRecord, other: LeaseRecord): boolean {
  return (
    one.holder === other.holder &&
    one.durationMs === other.durationMs &&
    one.transitions === other.transitions &&
    one.acquireTime === other.acquireTime &&
    one.renewTime === other.renewTime
  );
}

/** The largest duration that the API accepts. */
const transitionsMax = 2 ** 31 - 1;

export interface LeaseContent {
  readonly namespace: string;
  readonly name: string;
  readonly holder: string;
  readonly pod: string;
  readonly durationMs: number;
  readonly transitions: number;
  readonly acquireTime: string;
  readonly renewTime: string;
  /** The owner with which the Lease is deleted. */
  readonly owner?: OwnerReference | undefined;
  /** The precondition; absent for a new Lease. */
  readonly resourceVersion?: string;
}

export function writeLease(content: LeaseContent): ApiObject {
  const { namespace, name, holder, pod, durationMs, transitions, acquireTime, renewTime, resourceVersion, owner } =
    content;
  return {
    apiVersion: leaseResource.apiVersion,
    kind: leaseResource.kind,
    metadata: {
      namespace,
      name,
      annotations: { [holderPodAnnotation]: pod },
      ...(owner !== undefined && { ownerReferences: [owner] }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    spec: {
      holderIdentity: holder,
      // The API wants whole seconds, at least one.
      leaseDurationSeconds: Math.max(1, Math.ceil(durationMs / 1_000)),
      leaseTransitions: Math.min(transitions, transitionsMax),
      acquireTime,
      renewTime,
    },
  };
}

/** Times of a Lease have microseconds. */
export function microTime(nowMs: number): string {
  return new Date(nowMs).toISOString().replace("Z", "000Z");
}
