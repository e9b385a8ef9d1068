/**
 * Resources in, wire objects and verdicts out. PURE: no clock, no I/O, no logging; nothing here throws on bad input.
 *
 * Damage stays with the object: whatever is wrong with one is said in its result and the rest goes live. For keys the
 * safe side is deny. `Compilation` does the same step by step; this is the whole at once, for `tollgate validate`,
 * goldens and tests.
 */

import { everyObject } from "#operator/resources/mutable-resource-set";
import type { ResourceSet } from "#operator/resources/resource";
import type { WireObject } from "#proxy/snapshot/types.gen";
import { Compilation, type CompileSettings } from "./compilation.ts";
import type { QuotaScope } from "./limits/hard-quotas.ts";
import type { ObjectResult, WantedSecret } from "./result.ts";

export interface Compiled {
  readonly objects: ReadonlyMap<string, WireObject>;
  readonly results: ReadonlyMap<string, ObjectResult>;
  readonly wantedSecrets: readonly WantedSecret[];
}

export const defaultCompileSettings: CompileSettings = {
  requireAccount: false,
  unboundedOutput: "Reserve",
  inputEstimate: "Estimate",
  defaultOutputReserve: 4_096,
  revocation: "Finish",
  egressAllowCIDRs: [],
};

export function compile(resources: ResourceSet, settings: CompileSettings, quotaScope?: QuotaScope): Compiled {
  const compilation = new Compilation(resources, settings, quotaScope);
  compilation.update(everyObject(resources));
  return { objects: compilation.objects, results: compilation.results, wantedSecrets: compilation.wantedSecrets() };
}
