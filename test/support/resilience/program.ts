/** `tollgate operator` and `tollgate proxy` as processes of their own, for tests of their lives. */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { waitFor, within } from "#test/support/wait-for";
import { type LiveMemory, liveMemoryQuestion } from "./tell-live-memory.ts";

/** Flags for Node that make `liveBytes()` work. */
export const memoryFlags: readonly string[] = [
  "--expose-gc",
  `--import=${new URL("tell-live-memory.ts", import.meta.url)}`,
];

const programFile = join(import.meta.dirname, "..", "..", "..", "cli", "main.ts");

/** Arguments of an operator of the manifests in a folder, which proxies reach by the socket beside them. */
export function operatorOf(folder: string, ...flags: readonly string[]): readonly string[] {
  return [
    "operator",
    `--manifests=${folder}/manifests`,
    `--data=${folder}/operator`,
    `--push-socket=${folder}/push.sock`,
    "--operator-admin=127.0.0.1:0",
    "--egress-allow-cidrs=127.0.0.1/32",
    "--logs-level=warn",
    ...flags,
  ];
}

export class Program {
  readonly process: ChildProcess;
  /** What it told its parent when its ports were open. */
  readonly started: { data?: string; admin?: string } = {};
  output = "";
  readonly #ended: Promise<number | NodeJS.Signals>;

  constructor(args: readonly string[], execArgv: readonly string[] = []) {
    this.process = fork(programFile, [...args], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      execArgv: [...execArgv],
      env: { PATH: process.env["PATH"] },
    });
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
      });
    }
    this.process.on("message", (message) => Object.assign(this.started, message));
    this.#ended = new Promise((resolve) =>
      this.process.once("exit", (code, signal) => resolve(code ?? signal ?? "SIGKILL")),
    );
  }

  get processId(): number {
    const { pid } = this.process;
    if (pid === undefined) throw new Error("the program did not start");
    return pid;
  }

  get port(): number {
    return Number(new URL(this.started.data ?? "http://127.0.0.1:0").port);
  }

  async waitUntilListening(): Promise<void> {
    const isOver = (): boolean => this.process.exitCode !== null || this.process.signalCode !== null;
    await waitFor("the program to open its ports", () => this.started.data !== undefined || isOver(), {
      deadlineMs: 15_000,
    });
    if (isOver()) throw new Error(`the program ended early:\n${this.output}`);
  }

  /** Whether it says that it is ready for traffic. */
  async isReady(): Promise<boolean> {
    return (await fetch(`${this.started.admin}/readyz`)).ok;
  }

  signal(name: NodeJS.Signals): void {
    this.process.kill(name);
  }

  /** Bytes in use after a full collection; of a program started with `memoryFlags`. */
  async liveBytes(): Promise<number> {
    const told = new Promise<number>((resolve) => {
      const listen = (message: unknown): void => {
        if (typeof message !== "object" || message === null || !("liveBytes" in message)) return;
        this.process.off("message", listen);
        resolve((message as LiveMemory).liveBytes);
      };
      this.process.on("message", listen);
    });
    this.process.send(liveMemoryQuestion);
    return await within(15_000, "the program to tell its memory", told);
  }

  /** Exit status, or the signal that ended it. */
  async ended(deadlineMs = 15_000): Promise<number | NodeJS.Signals> {
    return await within(deadlineMs, "the program to end", this.#ended);
  }

  /** Ends it whatever it does. */
  async close(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.#ended;
  }
}
