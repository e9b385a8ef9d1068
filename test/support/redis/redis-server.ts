/**
 * A real Redis or Valkey on a free port, in a folder of its own, for the tests of the shared ledger.
 *
 * The program is `redis-server` or `valkey-server` of the machine (Debian: packages of the same names). It is ended by
 * its process id alone, and its folder is removed with it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { findProgram, skipLoudly } from "#test/support/cluster/programs";
import { freePort } from "#test/support/kube-control-plane";
import { waitFor } from "#test/support/wait-for";

/** Ends the suite loudly where the machine has no such program. */
export function needRedis(context: { skip(): void }): void {
  if (findServer() === undefined) skipLoudly(context, "neither redis-server nor valkey-server is installed");
}

function findServer(): string | undefined {
  return findProgram("redis-server") ?? findProgram("valkey-server");
}

export class RedisServer {
  readonly port: number;
  readonly folder: string;
  readonly #flags: readonly string[];
  #process: ChildProcess | undefined;
  #admin: Redis | undefined;

  constructor(port: number, folder: string, flags: readonly string[]) {
    this.port = port;
    this.folder = folder;
    this.#flags = flags;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** A connection for the test itself, open while the server runs. */
  get admin(): Redis {
    if (this.#admin === undefined) throw new Error("the server is not running");
    return this.#admin;
  }

  /** Starts it on its folder, again after `end`, and waits until it answers. */
  async start(): Promise<void> {
    const program = findServer();
    if (program === undefined) throw new Error("no redis-server");
    const flags = ["--port", String(this.port), "--bind", "127.0.0.1", "--dir", this.folder, "--save", ""];
    const child = spawn(program, [...flags, ...this.#flags], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    this.#process = child;
    // Where the tests end without closing it.
    const kill = (): boolean => child.kill("SIGKILL");
    process.once("exit", kill);
    child.once("exit", () => process.off("exit", kill));
    await waitFor("the store to answer", async () => {
      if (child.exitCode !== null) throw new Error(`it ended:\n${output}`);
      return output.includes("eady to accept connections");
    });
    this.#admin = new Redis(this.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
    this.#admin.on("error", () => undefined);
    await this.#admin.ping();
  }

  /** Stops its process where it is (SIGSTOP): connections stay open and nothing is answered. */
  pause(): void {
    this.#process?.kill("SIGSTOP");
  }

  resume(): void {
    this.#process?.kill("SIGCONT");
  }

  /** Ends the process and waits; its folder stays for another `start`. */
  async end(signal: "SIGTERM" | "SIGKILL" = "SIGKILL"): Promise<void> {
    const child = this.#process;
    this.#admin?.disconnect();
    this.#admin = undefined;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  }

  async close(): Promise<void> {
    await this.end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** @param flags further ones of the server: `["--appendonly", "yes"]` */
export async function startRedis(flags: readonly string[] = []): Promise<RedisServer> {
  const server = new RedisServer(await freePort(), mkdtempSync(join(tmpdir(), "tollgate-redis-")), flags);
  await server.start();
  return server;
}
