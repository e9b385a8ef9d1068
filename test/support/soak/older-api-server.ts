/**
 * An older kube-apiserver, built from the Go modules of its release: ten minutes cold, in a soak of full length only.
 *
 * The release replaces its parts by folders that its module does not hold; they are modules of their own, whose versions
 * follow from that of the whole.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { clusterCache } from "#test/support/cluster/programs";
import { findSoakModule, isFullSoak } from "./soak-tool.ts";

const run = promisify(execFile);

/**
 * @param version such as `v1.31.4`: one whose parts the module proxy still has
 * @returns a folder for `KUBEBUILDER_ASSETS` with it and the cache's etcd; undefined (said loudly) where it is neither
 *   there nor to be built now
 */
export async function findApiServer(version: string): Promise<string | undefined> {
  const folder = join(clusterCache, `kubernetes-${version}`);
  const server = join(folder, "kube-apiserver");
  if (existsSync(server)) return folder;
  if (!isFullSoak()) {
    console.error(`      SKIPPED: no kube-apiserver ${version}; a soak of full length builds it`);
    return undefined;
  }
  const sources = await findSoakModule(`k8s.io/kubernetes@${version}`);
  if (sources === undefined) return undefined;
  const work = await mkdtemp(join(tmpdir(), "tollgate-kubernetes-"));
  try {
    await writeFile(join(work, "go.mod"), moduleOf(version, await readFile(join(sources, "go.mod"), "utf8")));
    await writeFile(join(work, "tools.go"), 'package tools\n\nimport _ "k8s.io/kubernetes/cmd/kube-apiserver/app"\n');
    const options = { cwd: work, env: { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-mod=mod", GONOSUMDB: "*" } };
    await run("go", ["mod", "tidy", "-e"], options);
    const flags = `-s -w -X k8s.io/component-base/version.gitVersion=${version} -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=${version.split(".")[1]}`;
    const built = join(work, "kube-apiserver");
    const from = ["-o", built, "k8s.io/kubernetes/cmd/kube-apiserver"];
    await run("nice", ["-n", "15", "go", "build", "-p", "2", "-trimpath", "-ldflags", flags, ...from], options);
    await mkdir(folder, { recursive: true });
    await cp(join(clusterCache, "bin", "etcd"), join(folder, "etcd"));
    await cp(built, server);
    return folder;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** A module that needs this release, with its parts by version instead of by folder. */
function moduleOf(version: string, releaseModule: string): string {
  const partVersion = version.replace(/^v1\./, "v0.");
  const goVersion = /^go (\S+)$/m.exec(releaseModule)?.[1] ?? "1.22";
  const parts = [...releaseModule.matchAll(/^\s*(\S+) => \.\/staging\/\S+$/gm)].map(([, name]) => name);
  const replaced = parts.map((name) => `replace ${name} => ${name} ${partVersion}`);
  return `module older\n\ngo ${goVersion}\n\nrequire k8s.io/kubernetes ${version}\n\n${replaced.join("\n")}\n`;
}
