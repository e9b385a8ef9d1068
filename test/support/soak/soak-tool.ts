/** Programs whose building takes minutes: a soak of full length builds them into the cache, other runs use what is there. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { clusterCache } from "#test/support/cluster/programs";

const run = promisify(execFile);

/** A soak of an hour or more is one of full length: its bounds are tight, and it builds what is not there. */
export const isFullSoak = (): boolean => Number(process.env["TOLLGATE_SOAK_SECONDS"] ?? 0) >= 3_600;

/**
 * How long a suite waits for a program that is not in the cache yet. Two minutes to ten on an idle machine; but a build
 * gives way to everything else, and beside a whole run of the other suites Helm took more than a quarter of an hour.
 */
export const buildDeadlineMs = 90 * 60_000;

/**
 * @param name in the cache, for example `helm-3`
 * @param goPackage with its version: `helm.sh/helm/v3/cmd/helm@v3.19.2`
 * @returns its path, or undefined (said loudly) where it is neither there nor to be built now
 */
export async function findSoakTool(name: string, goPackage: string): Promise<string | undefined> {
  const path = join(clusterCache, "bin", name);
  if (existsSync(path)) return path;
  if (!isFullSoak()) {
    console.error(`      SKIPPED: no ${name}; a soak of full length builds it`);
    return undefined;
  }
  const folder = await mkdtemp(join(tmpdir(), "tollgate-tool-"));
  try {
    const environment = { ...process.env, CGO_ENABLED: "0", GOFLAGS: "", GOBIN: folder };
    await run("nice", ["-n", "15", "go", "install", "-trimpath", "-ldflags", "-s -w", goPackage], { env: environment });
    await mkdir(join(clusterCache, "bin"), { recursive: true });
    await cp(join(folder, basename(goPackage.split("@")[0] ?? "")), path);
    return path;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The sources of a Go module, from the module cache or, in a soak of full length, the module proxy.
 *
 * @param module with its version: `k8s.io/kubernetes@v1.31.14`
 * @returns its folder
 */
export async function findSoakModule(module: string): Promise<string | undefined> {
  try {
    const environment = { ...process.env, GOFLAGS: "", ...(!isFullSoak() && { GOPROXY: "off" }) };
    const { stdout } = await run("go", ["mod", "download", "-json", module], { env: environment });
    return JSON.parse(stdout).Dir;
  } catch {
    console.error(`      SKIPPED: no sources of ${module}; a soak of full length fetches them`);
    return undefined;
  }
}
