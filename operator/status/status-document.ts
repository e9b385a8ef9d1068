/** Builds the status of an object, in the form of its CRD, from the compiler's facts and the conditions. Pure. */

import type { ObjectResult } from "#operator/compile/result";
import type { ReasonOf } from "#operator/resources/reasons";
import type {
  AccountStatus,
  ApiKeyStatus,
  ChannelStatus,
  Condition,
  ModelRouteStatus,
} from "#operator/resources/types.gen";
import type { QuotaReport } from "#proxy/snapshot/push/messages";
import type { ChannelHealth } from "./credential-health.ts";
import type { ShownUse } from "./usage-tracker.ts";

export type Status = ApiKeyStatus | ChannelStatus | ModelRouteStatus | AccountStatus;

export interface StatusDocument {
  readonly apiVersion: "tollgate.dev/v1alpha1";
  readonly kind: ObjectResult["kind"];
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly status: Status & { readonly conditions: readonly Condition[] };
}

/** Facts about an object that the compiler does not know. */
export interface Attached {
  /** Of a channel: how many routes use it. */
  readonly routes?: number;
  /** Of an account: how many keys it has. */
  readonly keys?: number;
  readonly use?: ShownUse | undefined;
  /** Refusals of a channel's credentials, as proxies report them. */
  readonly health?: ChannelHealth | undefined;
}

export function statusDocument(
  result: ObjectResult,
  conditions: Condition[],
  nowMs: number,
  attached: Attached,
): StatusDocument {
  const { kind, namespace, name, generation } = result;
  const base = { apiVersion: "tollgate.dev/v1alpha1", kind, metadata: { namespace, name } } as const;
  const common = { observedGeneration: generation, conditions };
  switch (result.kind) {
    case "ApiKey":
      return {
        ...base,
        status: { ...common, credentials: keyCredentials(result, conditions, nowMs), ...keyUse(attached.use) },
      };
    case "Channel": {
      const credentials = channelCredentials(result, conditions, attached.health);
      const { modelCount } = result;
      const mapped = modelCount === undefined ? {} : { modelCount };
      return { ...base, status: { ...common, credentials, ...mapped, routes: attached.routes ?? 0 } };
    }
    case "ModelRoute": {
      const targets = result.targets.map(({ name: own, resolved, reason }) => {
        return { name: own, resolved: resolved ? ("True" as const) : ("False" as const), reason };
      });
      const targetCount = targets.filter(({ reason }) => reason === "Resolved").length;
      return { ...base, status: { ...common, targets, model: result.model, targetCount } };
    }
    case "Account":
      return { ...base, status: { ...common, ...balanceOf(result, attached.use), keys: attached.keys ?? 0 } };
    default:
      return result satisfies never;
  }
}

function keyUse(use: ShownUse | undefined): Pick<ApiKeyStatus, "usage" | "lastUsedTime"> {
  if (use === undefined) return {};
  const usage = use.quotas.map(({ name, unit, used, limit, resetAt }) => ({
    name,
    used: amountText(used, unit),
    limit: amountText(limit, unit),
    ...(resetAt !== undefined && { resetAt: timeText(resetAt) }),
    observedAt: timeText(use.atMs),
  }));
  return {
    ...(usage.length > 0 && { usage }),
    ...(use.lastUsedMs > 0 && { lastUsedTime: timeText(use.lastUsedMs) }),
  };
}

function balanceOf(
  { creditNanos }: Extract<ObjectResult, { kind: "Account" }>,
  use: ShownUse | undefined,
): Pick<AccountStatus, "balance"> {
  if (use?.balance === undefined) return {};
  const { consumedNanos, reservedNanos } = use.balance;
  return {
    balance: {
      ...(creditNanos !== undefined && { granted: amountText(creditNanos, "Cost") }),
      consumed: amountText(String(consumedNanos), "Cost"),
      reserved: amountText(String(reservedNanos), "Cost"),
      observedAt: timeText(use.atMs),
    },
  };
}

/** Cost in credits, as specs write it; everything else as a whole number. */
function amountText(amount: string, unit: QuotaReport["unit"]): string {
  if (unit !== "Cost") return amount;
  const isNegative = amount.startsWith("-");
  const digits = amount.replace("-", "").padStart(10, "0");
  const fraction = digits.slice(-9).replace(/0+$/, "");
  return `${isNegative ? "-" : ""}${digits.slice(0, -9)}${fraction === "" ? "" : `.${fraction}`}`;
}

function timeText(timeMs: number): string {
  return new Date(timeMs).toISOString().replace(/\.\d+Z$/, "Z");
}

function channelCredentials(
  { credentials }: Extract<ObjectResult, { kind: "Channel" }>,
  conditions: readonly Condition[],
  health: ChannelHealth | undefined,
): NonNullable<ChannelStatus["credentials"]> {
  const isServed = isProgrammed(conditions);
  return credentials.map(({ name, resolved, secretResourceVersion, reason }) => ({
    name,
    resolved: resolved ? ("True" as const) : ("False" as const),
    ...(health?.ejected.includes(name) === true && { healthy: "False" as const }),
    // As with a key's, the version promises that every ready proxy has it: the next leader relies on it.
    ...(isServed && secretResourceVersion !== undefined && { secretResourceVersion }),
    reason,
  }));
}

function isProgrammed(conditions: readonly Condition[]): boolean {
  return conditions.some(({ type, status }) => type === "Programmed" && status === "True");
}

function keyCredentials(
  result: Extract<ObjectResult, { kind: "ApiKey" }>,
  conditions: readonly Condition[],
  nowMs: number,
): NonNullable<ApiKeyStatus["credentials"]> {
  const isAcknowledged = isProgrammed(conditions);
  const isServed = result.wireIds.length > 0;
  return result.credentials.map((credential) => {
    const { name, fingerprint, displayPrefix, secretResourceVersion, notBeforeMs = 0, usable } = credential;
    const isLive = notBeforeMs <= nowMs && (credential.notAfterMs ?? Number.POSITIVE_INFINITY) > nowMs;
    const served = usable && isServed;
    const reason: ReasonOf<"Active"> | ReasonOf<"Programmed", "False"> | "NotServed" = !served
      ? "NotServed"
      : isLive
        ? isAcknowledged
          ? "Active"
          : "Pending"
        : notBeforeMs > nowMs
          ? "NotYetValid"
          : "Expired";
    return {
      name,
      ...(fingerprint !== undefined && { fingerprint }),
      ...(displayPrefix !== undefined && { displayPrefix }),
      // The version is a promise that every ready proxy serves it (docs/design/configuration.md 1.5).
      ...(isAcknowledged && secretResourceVersion !== undefined && { secretResourceVersion }),
      active: !served || !isLive ? "False" : isAcknowledged ? "True" : "Pending",
      reason,
    };
  });
}
