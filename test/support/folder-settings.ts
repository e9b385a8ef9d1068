/** What an operator of a folder is started with in tests: defaults of the program, its socket in its data folder. */
import { join } from "node:path";
import type { CompileSettings } from "#operator/compile/compilation";
import type { FolderOperatorSettings } from "#operator/settings";

/** Settings of a fleet as they are where nobody gives any. */
export const usualFleet: CompileSettings = {
  requireAccount: false,
  unboundedOutput: "Reserve",
  inputEstimate: "Estimate",
  defaultOutputReserve: 4096,
  revocation: "Finish",
  egressAllowCIDRs: [],
};

export function folderSettings(
  manifests: string,
  dataFolder: string,
  changes: Partial<FolderOperatorSettings> = {},
): FolderOperatorSettings {
  return {
    manifests,
    dataFolder,
    pushSocket: join(dataFolder, "push.sock"),
    admin: undefined,
    fleet: usualFleet,
    push: { heartbeatMs: 10_000, deadMs: 30_000 },
    ...changes,
  };
}
