/**
 * Images without an engine: the trees of `scripts/image/` on the root file system of the test cluster's cache, written as
 * OCI archives with the entry points that the `Dockerfile` gives. What runs in the end-to-end suite is what ships.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { readImageConfig } from "#scripts/image/image-config";
import { imageTargets } from "#scripts/image/targets";
import { compileSources, writeImageTree } from "#scripts/image/write-tree";
import { clusterCache, clusterScripts } from "./programs.ts";

const run = promisify(execFile);

/** Where the test images are said to come from; nothing is ever fetched. */
export const imageRegistry = "kb.test";

/** What can be wrong before anything is built. @returns undefined when all is there */
export function missingForImages(): string | undefined {
  const wanted = [join(clusterCache, "node-rootfs", "usr", "local", "bin", "node"), join(clusterScripts, "mkimage.py")];
  const missing = wanted.find((path) => !existsSync(path));
  return missing === undefined ? undefined : `${missing} is missing: run build.sh of the test cluster`;
}

/**
 * Writes `OUT/<target>.tar` for each target.
 *
 * @param tag of all of them: distinct for each state of the sources, or a node would keep the former
 */
export async function buildImages(out: string, tag: string): Promise<void> {
  await mkdir(out, { recursive: true });
  const work = await mkdtemp(join(tmpdir(), "tollgate-rootfs-"));
  try {
    const compiled = join(work, "compiled");
    compileSources(compiled);
    for (const [name, target] of Object.entries(imageTargets)) {
      const root = join(work, name);
      await copyRootfs(root);
      writeImageTree(target, compiled, join(root, "app"));
      await archive(name, root, `${imageRegistry}/tollgate-${name}:${tag}`, join(out, `${name}.tar`));
      await rm(root, { recursive: true });
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Node and its libraries, without the shell that the cache's root file system has for other uses. */
async function copyRootfs(root: string): Promise<void> {
  const rootfs = join(clusterCache, "node-rootfs");
  for (const folder of ["usr/local/bin", "lib/x86_64-linux-gnu", "lib64", "etc"])
    await cp(join(rootfs, folder), join(root, folder), { recursive: true });
  for (const folder of ["tmp", "proc", "sys", "dev", "app", "run"])
    await mkdir(join(root, folder), { recursive: true });
  await writeFile(join(root, "etc", "passwd"), "nonroot:x:65532:65532::/app:/sbin/nologin\n");
}

async function archive(name: string, root: string, reference: string, out: string): Promise<void> {
  const { entrypoint, user, workFolder } = readImageConfig(name);
  const flags = ["--entrypoint", entrypoint.join(","), "--user", user, "--workdir", workFolder];
  await run("python3", [join(clusterScripts, "mkimage.py"), root, reference, `${out}.part`, ...flags]);
  await rename(`${out}.part`, out);
}
