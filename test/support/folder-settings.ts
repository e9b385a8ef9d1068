/** What an operator of a folder is started with in tests: defaults of the program, its socket in its data folder. */
import { join } from "node:path";
import type { FolderOperatorSettings } from "../../operator/settings.ts";

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
    fleet: {
      requireAccount: false,
      unboundedOutput: "Reserve",
      inputEstimate: "Estimate",
      defaultOutputReserve: 4096,
      revocation: "Finish",
      egressAllowCIDRs: [],
    },
    push: { heartbeatMs: 10_000, deadMs: 30_000 },
    ...changes,
  };
}
