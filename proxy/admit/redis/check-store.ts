/**
 * Decides after each connection whether a store may be counted in: that it is a primary which forgets nothing by itself,
 * and holds the history that is expected of it.
 */
import { randomUUID } from "node:crypto";
import { problemOf, type StoreConnection } from "./store-connection.ts";

export type StoreCheck =
  /** @property warning what people should know of it nevertheless */
  | { readonly kind: "usable"; readonly epoch: string; readonly warning: string | undefined }
  /** Tried again by itself. */
  | { readonly kind: "failing"; readonly message: string; readonly isReplica?: boolean }
  /** People must say what shall be: its history is gone, or the store is set up to lose it. */
  | { readonly kind: "lost" | "unsafe"; readonly message: string };

/** The epoch that is expected of the store, and whether another one may take its place. */
export interface KeptEpoch {
  read(): string | undefined;
  /** People have said that counting may begin from zero; holds once. */
  readonly mayBegin: boolean;
  /** Called with each epoch that is counted in. */
  keep(epoch: string): void;
}

/**
 * A store without history is begun only where people said so: one that was emptied looks to a proxy without a kept
 * epoch like one that was never used, and beginning it would grant everything anew.
 *
 * @param prefix of all keys, with the hash tag
 */
export async function checkStore(connection: StoreConnection, prefix: string, kept: KeptEpoch): Promise<StoreCheck> {
  try {
    const info = await connection.info();
    const unfit = unfitness(info);
    if (unfit !== undefined) return unfit;
    const key = `${prefix}:epoch`;
    const expected = kept.read();
    let found = await connection.get(key);
    if (found === null) {
      if (!kept.mayBegin)
        return lost(expected === undefined ? unbegun : "the store is empty where it used to hold counters");
      await connection.setIfAbsent(key, randomUUID());
      found = await connection.get(key);
      if (found === null) return { kind: "failing", message: "the store does not keep what is written" };
    } else if (expected !== undefined && expected !== found && !kept.mayBegin) {
      return lost("the store holds another history than the one that was counted here");
    }
    kept.keep(found);
    return { kind: "usable", epoch: found, warning: warningOf(info) };
  } catch (error) {
    return { kind: "failing", message: problemOf(error) };
  }
}

const unbegun = "the store has no history: nobody has counted in it, or it was emptied";

function lost(what: string): StoreCheck {
  return { kind: "lost", message: `${what}; restore it, or begin from zero by quota.acceptEmpty, which holds once` };
}

function warningOf(info: string): string | undefined {
  if (memberOf(info, "aof_enabled") !== "0") return undefined;
  return "the store writes no append-only file (appendonly no): what it counted last is lost where it ends";
}

/** @param info sections of `INFO`. @returns undefined for a primary that forgets nothing by itself */
export function unfitness(info: string): StoreCheck | undefined {
  const role = memberOf(info, "role");
  if (role !== undefined && role !== "master")
    return { kind: "failing", message: `the store is a ${role}, not the primary`, isReplica: true };
  const policy = memberOf(info, "maxmemory_policy");
  if (policy === undefined || policy === "noeviction") return undefined;
  const message = `the store may forget counters: its maxmemory-policy is ${policy} and must be noeviction`;
  return { kind: "unsafe", message };
}

/** One line of `INFO`. */
export function memberOf(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*)$`, "m").exec(info)?.[1]?.trim();
}
