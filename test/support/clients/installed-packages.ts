/**
 * The readers and programs of `test/clients/packages`, installed into a cache of the machine: a folder for each state of
 * the manifests, so that clones and branches share it. `TOLLGATE_CLIENTS_CACHE` names another place for it.
 *
 * Installed without install scripts, at versions that the manifests pin; npm checks each package against its lock file.
 * Folders of other states, and what a killed install left behind, go when nobody has used them for a week.
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, utimesSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { before } from "mocha";
import { projectRoot } from "#scripts/run";
import { skipLoudly } from "#test/support/cluster/programs";
import { removeUnused } from "./remove-unused.ts";
import { describeRun, runProgram } from "./run-program.ts";

const manifests = join(projectRoot, "test", "clients", "packages");

const cache =
  process.env["TOLLGATE_CLIENTS_CACHE"] ??
  join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "tollgate-clients");

/** Some 1.4 GB in all, from a registry that may be slow. */
const installDeadlineMs = 5 * 60_000;

const unusedMsMax = 7 * 24 * 3_600_000;

/** Its packages lie in `node_modules` below. @throws Error that says why there is no such folder */
export function nodePackages(): Promise<string> {
  return (installedNode ??= install("node", ["package.json", "package-lock.json", ".npmrc"], async (folder) => {
    for (const name of ["package.json", "package-lock.json", ".npmrc"])
      cpSync(join(manifests, name), join(folder, name));
    await runInstaller("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], folder);
  }));
}

/** A Python with the packages. @throws Error that says why there is none */
export async function pythonWithPackages(): Promise<string> {
  installedPython ??= install("python", ["requirements.txt"], async (folder) => {
    await runInstaller("python3", ["-m", "venv", "."], folder);
    const list = join(manifests, "requirements.txt");
    await runInstaller(
      join(folder, "bin", "python"),
      ["-m", "pip", "install", "--quiet", "--no-deps", "-r", list],
      folder,
    );
  });
  return join(await installedPython, "bin", "python");
}

/** Skips the tests of the enclosing `describe`, loudly, where these packages cannot be had. */
export function usePackages(install: () => Promise<string>): void {
  before(async function () {
    this.timeout(2 * installDeadlineMs);
    try {
      await install();
    } catch (error) {
      skipLoudly(this, `the client packages cannot be installed: ${error instanceof Error ? error.message : error}`);
    }
  });
}

let installedNode: Promise<string> | undefined;
let installedPython: Promise<string> | undefined;

/** @param fill puts the packages into an empty folder, which takes its final name once it is whole */
async function install(
  kind: string,
  manifestNames: readonly string[],
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const key = createHash("sha256").update(`${process.platform} ${process.arch}`);
  for (const name of manifestNames) key.update(readFileSync(join(manifests, name)));
  const folder = join(cache, `${kind}-${key.digest("hex").slice(0, 16)}`);
  mkdirSync(cache, { recursive: true });
  if (existsSync(folder)) utimesSync(folder, new Date(), new Date());
  removeUnused(cache, unusedMsMax, Date.now());
  if (existsSync(folder)) return folder;
  const unfinished = mkdtempSync(`${folder}.`);
  console.error(`Installing the client packages for ${kind} (about half a minute) ...`);
  try {
    await fill(unfinished);
    renameSync(unfinished, folder);
  } catch (error) {
    // Another run may have been faster.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}

/** The machine's own settings say where packages come from. */
async function runInstaller(command: string, argumentsOf: readonly string[], folder: string): Promise<void> {
  const options = { command, arguments: argumentsOf, folder, environment: process.env, deadlineMs: installDeadlineMs };
  const run = await runProgram(options).catch((error: unknown) => {
    throw new Error(`${command} cannot be run`, { cause: error });
  });
  if (run.status !== 0) throw new Error(`${command} could not install the packages: ${describeRun(run)}`);
}
