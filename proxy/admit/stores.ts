/**
 * Lists the stores that can keep the counters: how each is opened, and what it can hold. `quota.store` of
 * `cli/settings.schema.json` names the same ones; a test compares both.
 */
import { readFileSync } from "node:fs";
import type { QuotaFailureMode, QuotaStore, RedisSettings } from "#proxy/settings";
import type { Limit } from "#proxy/snapshot/types.gen";
import { EmbeddedLedger } from "./embedded-ledger.ts";
import type { OpenLedger } from "./ledger.ts";
import { MemoryLedger } from "./memory-ledger.ts";
import { RedisLedger } from "./redis/redis-ledger.ts";

/** What a proxy opens a store with; each takes what it needs. */
export interface StoreOptions {
  readonly now: () => number;
  readonly reservationTtlMs: number;
  readonly onShadowRefusal: (counter: string, limit: Limit) => void;
  /** Made if absent. */
  readonly folder: string;
  readonly acceptEmpty: boolean;
  readonly failureMode: QuotaFailureMode;
  /** Of the proxy, among those that use the folder. */
  readonly name: string;
  readonly redis: RedisSettings | undefined;
  /** Told of each change: `writing` and `usable` are health. */
  readonly onStoreState: (state: { readonly kind: string; readonly message: string }) => void;
  readonly onProblem: (message: string) => void;
}

export interface Store {
  /** @throws Error when another process counts in the same folder, or folder or store cannot be used */
  readonly open: (options: StoreOptions) => Promise<OpenLedger>;
  /** Counters outlive the process. */
  readonly isDurable: boolean;
  /** Several proxies count as one. */
  readonly isShared: boolean;
}

export const stores: Readonly<Record<QuotaStore, Store>> = {
  Embedded: { open: (options) => EmbeddedLedger.open(options), isDurable: true, isShared: false },
  Memory: {
    open: (options) => Promise.resolve(new MemoryLedger(options)),
    isDurable: false,
    isShared: false,
  },
  Redis: { open: openRedis, isDurable: true, isShared: true },
};

export function isQuotaStore(name: string): name is QuotaStore {
  return Object.hasOwn(stores, name);
}

function openRedis({ redis, ...options }: StoreOptions): Promise<RedisLedger> {
  if (redis === undefined) throw new Error("the store Redis needs an address: quota.redis.url");
  const { url, passwordFile, hashTag, decisionTimeoutMs } = redis;
  const password = passwordFile === undefined ? undefined : (): string => readFileSync(passwordFile, "utf8").trim();
  return RedisLedger.open({ ...options, address: { url, password }, prefix: hashTag, decisionTimeoutMs });
}
