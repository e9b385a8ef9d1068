/**
 * Decides after each connection whether a store may be counted in: that it is a primary which forgets nothing by itself,
 * and holds the history that is expected of it.
 */
import { randomUUID } from "node:crypto";
import { problemOf, type StoreConnection } from "./store-connection.ts";

export type StoreCheck =
  | { readonly kind: "usable"; readonly epoch: string }
  /** Tried again by itself. */
  | { readonly kind: "failing"; readonly message: string }
  /** People must say what shall be: its history is gone, or the store is set up to lose it. */
  | { readonly kind: "lost" | "unsafe"; readonly message: string };

export interface KeptEpoch {
  read(): string | undefined;
  write(epoch: string): void;
}

/**
 * @param prefix of all keys, with the hash tag
 * @param acceptEmpty begin to count from zero where the history is gone
 */
export async function checkStore(
  connection: StoreConnection,
  prefix: string,
  kept: KeptEpoch,
  acceptEmpty: boolean,
): Promise<StoreCheck> {
  try {
    const unfit = unfitness(await connection.info());
    if (unfit !== undefined) return unfit;
    const key = `${prefix}:epoch`;
    const expected = kept.read();
    let found = await connection.get(key);
    if (found === null) {
      if (expected !== undefined && !acceptEmpty) return lost("the store is empty where it used to hold counters");
      await connection.setIfAbsent(key, randomUUID());
      found = await connection.get(key);
      if (found === null) return { kind: "failing", message: "the store does not keep what is written" };
    } else if (expected !== undefined && expected !== found && !acceptEmpty) {
      return lost("the store holds another history than the one that was counted here");
    }
    if (found !== expected) kept.write(found);
    return { kind: "usable", epoch: found };
  } catch (error) {
    return { kind: "failing", message: problemOf(error) };
  }
}

function lost(what: string): StoreCheck {
  return { kind: "lost", message: `${what}; restore it, or accept that by quota.acceptEmpty` };
}

function unfitness(info: string): StoreCheck | undefined {
  const role = memberOf(info, "role");
  if (role !== undefined && role !== "master")
    return { kind: "failing", message: `the store is a ${role}, not the primary` };
  const policy = memberOf(info, "maxmemory_policy");
  if (policy === undefined || policy === "noeviction") return undefined;
  const message = `the store may forget counters: its maxmemory-policy is ${policy} and must be noeviction`;
  return { kind: "unsafe", message };
}

function memberOf(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*)$`, "m").exec(info)?.[1]?.trim();
}
