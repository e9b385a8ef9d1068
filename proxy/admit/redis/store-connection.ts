/**
 * Holds the one connection of this process to Redis or Valkey: the client library behind the few calls that the ledger
 * makes.
 *
 * Nothing waits in it: without a connection a call fails at once, and a call that was sent is never sent again by
 * itself. The library's own defaults would hold a request for ten seconds where the store is gone, and for ever where
 * it hangs; how long to wait is decided by `command-batch.ts`.
 */
import { Redis } from "ioredis";
import { StoreError } from "./script-answers.ts";

export interface StoreAddress {
  /** `redis://` or `rediss://`, with host and port; a user and a password may be in it. */
  readonly url: string;
  /** Instead of the one in the address; asked at each connection, so that it may change. */
  readonly password?: (() => string) | undefined;
}

/** What the ledger asks of a store. Every call may fail with whatever the store or the network says. */
export interface StoreConnection {
  /** Runs a Lua script on one key. Its text is sent only where the store does not know it. */
  runScript(script: StoreScript, key: string, values: readonly string[]): Promise<unknown>;
  get(key: string): Promise<string | null>;
  /** @returns whether there was no value before */
  setIfAbsent(key: string, value: string): Promise<boolean>;
  /** A page of the names of keys. @returns them and the cursor of the next page; `0` at the end, and to begin with */
  scan(cursor: string, pattern: string, count: number): Promise<readonly [cursor: string, names: readonly string[]]>;
  /** Sections of `INFO`, as the store writes them. */
  info(): Promise<string>;
  /** Drops the connection with all that it waits for, and makes a new one. @param reason for the log */
  reconnect(reason: string): void;
  close(): void;
}

export interface StoreScript {
  readonly text: string;
  /** SHA-1 of the text, in hex: the name by which a store knows it. */
  readonly digest: string;
}

export interface ConnectionEvents {
  /** The store answers; also after each reconnection. */
  readonly onReady: () => void;
  /** The connection is gone, and made anew in the background. @param message for the log */
  readonly onLost: (message: string) => void;
}

const connectTimeoutMs = 1_000;
/** From the connection to the first answer. */
const helloTimeoutMs = 2_000;
const reconnectMinMs = 20;
const reconnectMaxMs = 500;

export class RedisConnection implements StoreConnection {
  readonly #client: Redis;
  readonly #password: StoreAddress["password"];
  #problem = "the store closed the connection";

  /** @throws whatever `password` throws the first time */
  constructor({ url, password }: StoreAddress, { onReady, onLost }: ConnectionEvents) {
    this.#password = password;
    this.#client = new Redis(url, {
      ...(password !== undefined && { password: password() }),
      lazyConnect: true,
      connectTimeout: connectTimeoutMs,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      retryStrategy: (times) => {
        this.#askPassword();
        return Math.min(reconnectMinMs * times, reconnectMaxMs);
      },
    });
    // A store that hangs takes connections all the same: they are given up, so that none outlives what made it silent.
    let silence: NodeJS.Timeout | undefined;
    this.#client.on("connect", () => {
      silence = setTimeout(() => this.reconnect("the store does not answer"), helloTimeoutMs);
      silence.unref();
    });
    this.#client.on("ready", () => {
      clearTimeout(silence);
      onReady();
    });
    this.#client.on("error", (error: Error) => (this.#problem = withoutSecrets(error.message)));
    this.#client.on("close", () => {
      clearTimeout(silence);
      onLost(this.#problem);
    });
    this.#client.connect().catch(() => undefined);
  }

  /** For the next connection. A file that is being replaced costs nothing: the former password is tried again. */
  #askPassword(): void {
    try {
      if (this.#password !== undefined) this.#client.options.password = this.#password();
    } catch (error) {
      this.#problem = error instanceof Error ? `the password cannot be read: ${error.message}` : this.#problem;
    }
  }

  async runScript({ text, digest }: StoreScript, key: string, values: readonly string[]): Promise<unknown> {
    try {
      return await this.#client.evalsha(digest, 1, key, ...values);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
      return await this.#client.eval(text, 1, key, ...values);
    }
  }

  get(key: string): Promise<string | null> {
    return this.#client.get(key);
  }

  scan(cursor: string, pattern: string, count: number): Promise<readonly [cursor: string, names: readonly string[]]> {
    return this.#client.scan(cursor, "MATCH", pattern, "COUNT", count);
  }

  async setIfAbsent(key: string, value: string): Promise<boolean> {
    return (await this.#client.set(key, value, "NX")) === "OK";
  }

  info(): Promise<string> {
    return this.#client.info();
  }

  reconnect(reason: string): void {
    this.#problem = reason;
    this.#client.disconnect(true);
  }

  close(): void {
    this.#client.disconnect();
  }
}

/** What went wrong, in words that may stand in a log. */
export function problemOf(error: unknown): string {
  if (error instanceof StoreError) return error.message;
  return error instanceof Error ? `the store failed: ${withoutSecrets(error.message)}` : "the store failed";
}

/** A message may quote an address with its password. */
function withoutSecrets(message: string): string {
  return message.replace(/\/\/[^@\s/]*@/g, "//***@").slice(0, 300);
}
