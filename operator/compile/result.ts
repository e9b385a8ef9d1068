/** The result of compiling one resource: verdicts for its conditions and facts for the rest of its status. */
import type { ConditionType, ReasonOf, Verdict, VerdictOf } from "#operator/resources/reasons";
import type { OwnKind } from "#operator/resources/resource";
import type { Account, Channel, Key } from "#proxy/snapshot/types.gen";

interface CommonResult<Kind extends OwnKind> {
  /** The wire id: `key/…`, `channel/…`, `route/…` or `account/…`. */
  readonly id: string;
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly accepted: Verdict<"Accepted">;
  readonly resolvedRefs?: Verdict<"ResolvedRefs">;
  /** Ids of the wire objects of this resource; empty when nothing of it is served. */
  readonly wireIds: readonly string[];
}

export interface KeyCredentialFact {
  readonly name: string;
  /** First 12 hex digits of the digest. */
  readonly fingerprint?: string;
  /** `sk-ab12...`; only where the operator sees the key itself. */
  readonly displayPrefix?: string;
  readonly secretResourceVersion?: string;
  readonly notBeforeMs?: number;
  readonly notAfterMs?: number;
  /** Whether the proxy is given this credential. */
  readonly usable: boolean;
}

export interface KeyResult extends CommonResult<"ApiKey"> {
  readonly state: Key["state"];
  readonly expiresAtMs?: number;
  readonly account?: string;
  readonly accountRequired: boolean;
  readonly credentials: readonly KeyCredentialFact[];
}

export interface ChannelResult extends CommonResult<"Channel"> {
  readonly state: Channel["state"];
  readonly baseURL?: string;
  /** Undefined: no mappings, so every model is accepted. */
  readonly modelCount: number | undefined;
  /** Whether it uses certificates of a ConfigMap or Secret, whose versions are not in the status. */
  readonly refersToCertificates: boolean;
  readonly credentials: readonly {
    readonly name: string;
    readonly state: Channel["credentials"][number]["state"];
    readonly resolved: boolean;
    readonly secretResourceVersion?: string;
    readonly reason: ReasonOf<"ResolvedRefs"> | "Disabled";
  }[];
}

export interface RouteResult extends CommonResult<"ModelRoute"> {
  readonly available: Verdict<"Available">;
  /** Public name in force. */
  readonly model: string;
  readonly targets: readonly {
    readonly name: string;
    readonly resolved: boolean;
    readonly reason: ReasonOf<"ResolvedRefs"> | "WeightIsZero" | "ChannelNotActive";
  }[];
}

export interface AccountResult extends CommonResult<"Account"> {
  readonly state: Account["state"];
  /** Credit granted in nano-credits; absent: unlimited. */
  readonly creditNanos?: string;
  readonly overdraftNanos?: string;
}

export type ObjectResult = KeyResult | ChannelResult | RouteResult | AccountResult;

/** A Secret that a `generate` credential asks for and that does not exist yet. */
export interface WantedSecret {
  readonly namespace: string;
  readonly secretName: string;
  readonly key: string;
  readonly prefix: string;
  readonly ownerName: string;
  /** Name of the credential that asks for it. */
  readonly credential: string;
}

export const valid: Verdict<"Accepted"> = { status: "True", reason: "Valid", message: "The spec is valid." };
export const resolved: Verdict<"ResolvedRefs"> = {
  status: "True",
  reason: "Resolved",
  message: "All references are resolved.",
};

export function refused<Reason extends ReasonOf<ConditionType, "False">>(
  reason: Reason,
  message: string,
): VerdictOf<"False", Reason> {
  return { status: "False", reason, message };
}

export function partiallyValid(messages: readonly string[]): Verdict<"Accepted"> {
  return { status: "True", reason: "PartiallyValid", message: messages.join(" ") };
}
