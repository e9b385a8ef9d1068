/** Compiles an Account into its wire object (docs/design/configuration.md 2.4). */

import { parseNanoCredits, SpecError } from "#operator/resources/amounts";
import type { AccountResource } from "#operator/resources/resource";
import type { Account } from "#proxy/snapshot/types.gen";
import { compileLimits } from "./limits/compile-limits.ts";
import { type AccountResult, refused, valid } from "./result.ts";

export interface CompiledAccount {
  readonly object?: Account;
  readonly result: AccountResult;
}

export function compileAccount(account: AccountResource): CompiledAccount {
  const { namespace, name, generation } = account.metadata;
  const { spec, invalid } = account;
  const id = `account/${namespace}/${name}`;
  const base = { id, kind: "Account", namespace, name, generation, state: spec?.state ?? "Active" } as const;
  let object: Account | undefined;
  let accepted =
    invalid === undefined ? valid : refused("Invalid", spec ? `${invalid} The previous version is served.` : invalid);
  try {
    object = spec && {
      kind: "account",
      namespace,
      name,
      state: spec.state ?? "Active",
      ...(spec.credit !== undefined && { creditNanos: parseNanoCredits(spec.credit, "spec.credit") }),
      ...(spec.overdraft !== undefined && { overdraftNanos: parseNanoCredits(spec.overdraft, "spec.overdraft") }),
      ...(spec.limits && { limits: compileLimits(spec.limits, "spec.limits") }),
      ...(spec.defaultKeyLimits && { defaultKeyLimits: compileLimits(spec.defaultKeyLimits, "spec.defaultKeyLimits") }),
    };
  } catch (error) {
    if (!(error instanceof SpecError)) throw error;
    accepted = refused("Invalid", `${error.message}.`);
  }
  if (!object) return { result: { ...base, accepted, wireIds: [] } };
  const { creditNanos, overdraftNanos } = object;
  const credit = {
    ...(creditNanos !== undefined && { creditNanos }),
    ...(overdraftNanos !== undefined && { overdraftNanos }),
  };
  return { object, result: { ...base, ...credit, accepted, wireIds: [id] } };
}
