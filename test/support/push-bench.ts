/**
 * What a bench of pushes opens: a folder, an operator in a process of its own, so that the proxy's side is measured alone, and
 * a proxy's client of it. All of it ends with `close()`, however far the bench came.
 */
import { type ChildProcess, type ForkOptions, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PushClient, PushClientOptions } from "#proxy/sync/push-client";
import type { PushTransport } from "#proxy/sync/push-transport";
import type { SnapshotStore } from "#proxy/sync/snapshot-store";
import { pushClient } from "./push-rig.ts";

export class PushBench {
  readonly folder: string;
  #operator: ChildProcess | undefined;
  #client: PushClient | undefined;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async open(): Promise<PushBench> {
    return new PushBench(await mkdtemp(join(tmpdir(), "tollgate-bench-")));
  }

  /** @param program a file of this folder that sends a message when proxies can connect */
  forkOperator(
    program: "operator-process.ts" | "push-operator-process.ts",
    programArguments: readonly string[],
    options: ForkOptions = {},
  ): ChildProcess {
    this.#operator = fork(new URL(program, import.meta.url), programArguments, options);
    return this.#operator;
  }

  /** The client is not started yet. */
  client(transport: PushTransport, store: SnapshotStore, options: Partial<PushClientOptions> = {}): PushClient {
    this.#client = pushClient(transport, store, options);
    return this.#client;
  }

  async close(): Promise<void> {
    await this.#client?.close();
    const operator = this.#operator;
    if (operator?.connected === true) operator.disconnect();
    // One that has ended already would never say so again.
    if (operator !== undefined && operator.exitCode === null && operator.signalCode === null)
      await once(operator, "exit");
    await rm(this.folder, { recursive: true, force: true });
  }
}
