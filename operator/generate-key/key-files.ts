/**
 * Makes the Secrets that `generate` credentials ask for, as files that the folder source reads
 * (docs/design/configuration.md 2.1). `key-secrets.ts` does the same in a cluster.
 *
 * A file that cannot be written delays no other file. It is tried again while a credential waits for it, because the
 * disk may have room later, or the folder another mode.
 */
import type { WantedSecret } from "#operator/compile/result";
import { codeOf } from "#operator/source/scan-folder";
import { generateSecret, secretFile } from "./generate-secret.ts";

export interface KeyFilesOptions {
  /** The data folder's `secrets`. */
  readonly folder: string;
  /** The Secrets that credentials wait for now. */
  readonly wanted: () => readonly WantedSecret[];
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: { info(message: string): void; error(message: string): void };
  /** Called after files were written. */
  readonly onMade: () => void;
  readonly retryMs?: number;
}

/** Files written at a time: each is open meanwhile. */
const togetherMax = 32;

export class KeyFiles {
  readonly #options: KeyFilesOptions;
  /** Error code of each wanted file that could not be written, by path; each is logged once. */
  #failures = new Map<string, string>();
  #making: Promise<void> | undefined;
  #isAsked = false;
  #isClosed = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: KeyFilesOptions) {
    this.#options = options;
  }

  /** Makes the wanted Secrets, now or after the running pass. Never fails. */
  async reconcile(): Promise<void> {
    if (this.#isClosed) return;
    this.#isAsked = true;
    this.#making ??= this.#makeAll().finally(() => {
      this.#making = undefined;
      // A request came after the last pass had read what is wanted.
      if (this.#isAsked) void this.reconcile();
    });
    await this.#making;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    await this.#making;
  }

  async #makeAll(): Promise<void> {
    while (this.#isAsked && !this.#isClosed) {
      this.#isAsked = false;
      const wanted = this.#options.wanted();
      const failures = new Map<string, string>();
      let made = 0;
      for (let start = 0; start < wanted.length && !this.#isClosed; start += togetherMax) {
        const group = wanted.slice(start, start + togetherMax);
        const written = await Promise.all(group.map((secret) => this.#make(secret, failures)));
        made += written.filter((isWritten) => isWritten).length;
      }
      this.#failures = failures;
      clearTimeout(this.#retry);
      if (failures.size > 0)
        this.#retry = setTimeout(() => void this.reconcile(), this.#options.retryMs ?? 5_000).unref();
      if (made > 0) this.#options.onMade();
    }
  }

  /** @returns whether it was written now */
  async #make(wanted: WantedSecret, failures: Map<string, string>): Promise<boolean> {
    const { folder, randomBytes, log } = this.#options;
    const owner = `ApiKey ${wanted.namespace}/${wanted.ownerName}`;
    try {
      const path = await generateSecret(wanted, folder, randomBytes);
      if (path !== undefined) log.info(`${owner}: wrote a new key to ${path}`);
      return path !== undefined;
    } catch (error) {
      const path = secretFile(wanted, folder);
      const why = error instanceof Error ? error.message : String(error);
      // The message names a temporary file with another name each time; the code does not.
      const code = codeOf(error);
      failures.set(path, code);
      if (this.#failures.get(path) !== code) log.error(`${owner}: cannot write the key to ${path}: ${why}`);
      return false;
    }
  }
}
