/**
 * Compiles resources into wire objects and results in one go, for `tollgate validate`, goldens and tests. `Compilation`
 * does the same step by step.
 *
 * It is pure: no clock, no I/O, no logging, and bad input never throws. A fault stays with its object: it is reported
 * in the object's result, and all other objects are served. A key with a fault is denied.
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
