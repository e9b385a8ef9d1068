/**
 * `npm run bench`: the figures of the request path and of the configuration, see `test/bench/run.ts`; with `cluster`
 * those of the control plane in front of a real API server, see `test/bench/cluster/run.ts`.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { projectRoot } from "#scripts/run";

const [first, ...rest] = process.argv.slice(2);
const isOfCluster = first === "cluster";
const script = join(projectRoot, "test", "bench", ...(isOfCluster ? ["cluster"] : []), "run.ts");
const given = isOfCluster ? rest : process.argv.slice(2);
process.exit(spawnSync(process.execPath, [script, ...given], { cwd: projectRoot, stdio: "inherit" }).status ?? 1);
