/**
 * Runs the proxies of `tollgate standalone`: child processes of the same program, watched and restarted.
 *
 * Invariants: no child outlives its parent (each holds a channel to it and drains when that closes, however the parent
 * ended); a child that dies after it had started is restarted with growing pauses; a child that dies before is a
 * failure of the whole, because its settings or ports are wrong and a retry would not help.
 */
import { type ChildProcess, fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "#proxy/observe/logger";
import { proxyNodeFlags } from "./proxy-node-flags.ts";

export interface ProxyProcessOptions {
  /** `cli/main.ts` */
  readonly program: string;
  /** Flags of one proxy by its number, from 0. */
  readonly flags: (index: number) => readonly string[];
  readonly count: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  readonly onStarted: (addresses: { readonly data: string; readonly admin: string }, index: number) => void;
  /** Scaled down by tests. */
  readonly restartDelayMs?: number;
}

const restartDelayMsDefault = 500;
const restartDelayMsMax = 30_000;
/** A child that ran this long starts again without delay growth. */
const steadyMs = 60_000;

export class ProxyProcesses {
  readonly #options: ProxyProcessOptions;
  readonly #stop = new AbortController();
  readonly #children = new Set<ChildProcess>();
  #worstStatus = 0;

  constructor(options: ProxyProcessOptions) {
    this.#options = options;
  }

  /** Runs all proxies until `stop`. @returns 0 when all ended cleanly, else 1 */
  async run(): Promise<number> {
    const { count } = this.#options;
    await Promise.all(Array.from({ length: count }, (_, index) => this.#keepAlive(index)));
    return this.#worstStatus;
  }

  /** Tells every child to drain; `run` returns when they have. */
  stop(): void {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    for (const child of this.#children) child.kill("SIGTERM");
  }

  /** Ends every child at once, whatever it is doing. */
  kill(): void {
    for (const child of this.#children) child.kill("SIGKILL");
  }

  async #keepAlive(index: number): Promise<void> {
    const { log, restartDelayMs = restartDelayMsDefault } = this.#options;
    let delayMs = restartDelayMs;
    while (!this.#stop.signal.aborted) {
      const startedAtMs = performance.now();
      const { status, wasStarted } = await this.#runOnce(index);
      if (this.#stop.signal.aborted) {
        // A child that was told to end before it could listen to signals has nothing to drain.
        if (status !== 0 && status !== "SIGTERM") this.#worstStatus = 1;
        return;
      }
      if (!wasStarted) {
        log.error("a proxy could not start", { index, status });
        this.#worstStatus = 1;
        this.stop();
        return;
      }
      if (performance.now() - startedAtMs > steadyMs) delayMs = restartDelayMs;
      log.error("a proxy died; it is restarted", { index, status, delayMs });
      await sleep(delayMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      delayMs = Math.min(delayMs * 2, restartDelayMsMax);
    }
  }

  async #runOnce(index: number): Promise<{ readonly status: number | string; readonly wasStarted: boolean }> {
    const { program, flags, environment, onStarted } = this.#options;
    // The inspector of a child must not be opened by a signal in production.
    const child = fork(program, ["proxy", ...flags(index)], {
      execArgv: [...proxyNodeFlags],
      env: { ...environment },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#children.add(child);
    let wasStarted = false;
    child.on("message", (message) => {
      const addresses = readStarted(message);
      if (addresses === undefined) return;
      wasStarted = true;
      onStarted(addresses, index);
    });
    const status = await new Promise<number | string>((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("exit", (code, signal) => resolve(code ?? signal ?? 1));
    });
    this.#children.delete(child);
    return { status, wasStarted };
  }
}

function readStarted(message: unknown): { readonly data: string; readonly admin: string } | undefined {
  if (typeof message !== "object" || message === null) return undefined;
  if (!("kind" in message) || message.kind !== "started") return undefined;
  if (!("data" in message) || typeof message.data !== "string") return undefined;
  if (!("admin" in message) || typeof message.admin !== "string") return undefined;
  return { data: message.data, admin: message.admin };
}
