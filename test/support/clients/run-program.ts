/**
 * Runs a program to its end and keeps what it printed. Client programs get a home folder of their own and no network:
 * proxies of their environment lead nowhere, loopback is reached directly.
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface ProgramRun {
  readonly status: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
  readonly tookMs: number;
}

export interface ProgramOptions {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** Its working directory. */
  readonly folder: string;
  readonly deadlineMs: number;
}

/** A port on which nobody listens: the first one belongs to root and is long out of use. */
const deadProxy = "http://127.0.0.1:1";

/** A home folder that lasts as long as the work in it. */
export async function withHome<T>(work: (home: string) => Promise<T>): Promise<T> {
  const home = await mkdtemp(join(tmpdir(), "tollgate-client-"));
  try {
    return await work(home);
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The environment of a client program: nothing of this process comes through but where programs are. */
export function clientEnvironment(home: string, more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    HOME: home,
    TMPDIR: home,
    LANG: "C.UTF-8",
    HTTP_PROXY: deadProxy,
    HTTPS_PROXY: deadProxy,
    NO_PROXY: "127.0.0.1,localhost",
    ...more,
  };
}

/** Ends with the program; one that outlives its deadline is killed, with all that it started, and has status SIGKILL. */
export async function runProgram(options: ProgramOptions): Promise<ProgramRun> {
  const startedMs = performance.now();
  const child = spawn(options.command, [...options.arguments], {
    cwd: options.folder,
    // A process group of its own, so that what it started ends with it.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: options.environment,
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.stderr += text;
  });
  const deadline = setTimeout(() => endGroup(child.pid), options.deadlineMs);
  try {
    const status = await new Promise<number | NodeJS.Signals>((resolve, reject) => {
      child.on("error", reject);
      // A process that it left behind may hold its output open: that ends with the group.
      child.on("exit", () => endGroup(child.pid));
      child.on("close", (code, signal) => resolve(code ?? signal ?? "SIGKILL"));
    });
    return { status, ...output, tookMs: performance.now() - startedMs };
  } finally {
    clearTimeout(deadline);
  }
}

function endGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // All of the group have ended.
  }
}

/** What a failed assertion shows of a run. */
export function describeRun(run: ProgramRun): string {
  const end = (text: string): string => text.slice(-4_000);
  return `status ${run.status} after ${Math.round(run.tookMs)} ms\n-- stdout\n${end(run.stdout)}\n-- stderr\n${end(run.stderr)}`;
}
