/**
 * Reads the usage figures of an observed status into the form of the usage tracker, so that a new leader goes on from
 * the figures of the previous one. Pure.
 */

import { identityOf, type ResourceSet } from "#operator/resources/resource";
import type { Limit } from "#operator/resources/types.gen";
import type { StatusDocument } from "#operator/status/status-document";
import type { ShownUse } from "#operator/status/usage-tracker";
import type { QuotaReport } from "#proxy/snapshot/push/messages";

/** @returns undefined where the status shows no use */
export function observedUse(
  { kind, metadata, status }: StatusDocument,
  resources: Pick<ResourceSet, "apiKeys" | "accounts">,
): ShownUse | undefined {
  if (kind === "Account") return "balance" in status ? balanceUse(status.balance) : undefined;
  if (kind !== "ApiKey") return undefined;
  const usage = "usage" in status ? (status.usage ?? []) : [];
  const lastUsed = "lastUsedTime" in status ? status.lastUsedTime : undefined;
  if (usage.length === 0 && lastUsed === undefined) return undefined;
  const limits = limitsOf(identityOf(metadata), metadata.namespace, resources);
  const quotas = usage.flatMap(({ name, used = "0", limit = "0", resetAt }) => {
    const spec = limits.find((one) => one.name === name);
    // The limit was removed, or means something else now.
    if (spec === undefined) return [];
    const { unit, mode } = spec;
    const quota: QuotaReport = {
      name,
      unit,
      isEnforced: mode !== "Shadow",
      used: wholeOf(used, unit),
      limit: wholeOf(limit, unit),
      ...(resetAt !== undefined && { resetAt: Date.parse(resetAt) }),
    };
    return [quota];
  });
  return { atMs: timeOf(usage[0]?.observedAt), quotas, lastUsedMs: timeOf(lastUsed) };
}

function balanceUse(
  balance: { readonly consumed?: string; readonly reserved?: string; readonly observedAt?: string } | undefined,
): ShownUse | undefined {
  if (balance === undefined) return undefined;
  const { consumed = "0", reserved = "0", observedAt } = balance;
  return {
    atMs: timeOf(observedAt),
    quotas: [],
    lastUsedMs: 0,
    balance: { consumedNanos: BigInt(wholeOf(consumed, "Cost")), reservedNanos: BigInt(wholeOf(reserved, "Cost")) },
  };
}

function limitsOf(
  identity: string,
  namespace: string,
  { apiKeys, accounts }: Pick<ResourceSet, "apiKeys" | "accounts">,
): readonly Limit[] {
  const spec = apiKeys.get(identity)?.spec;
  const { limits } = spec ?? {};
  if (limits !== undefined && limits.length > 0) return limits;
  const account = spec?.accountRef;
  return account === undefined ? [] : (accounts.get(`${namespace}/${account.name}`)?.spec?.defaultKeyLimits ?? []);
}

/** Credits to nano-credits; everything else is whole already. The inverse of what a status is written with. */
function wholeOf(text: string, unit: QuotaReport["unit"]): string {
  const match = /^(-?)([0-9]{1,20})(?:\.([0-9]{1,9}))?$/.exec(text);
  if (match === null) return "0";
  const [, sign = "", whole = "0", fraction = ""] = match;
  return String(BigInt(`${sign}${whole}${unit === "Cost" ? fraction.padEnd(9, "0") : ""}`));
}

function timeOf(text: string | undefined): number {
  const timeMs = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isFinite(timeMs) ? timeMs : 0;
}
