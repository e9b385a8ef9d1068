/**
 * Defines the store of responses: one interface, several implementations that pass the same tests.
 *
 * Every response belongs to an owner, the client key that made the call (`namespace/name`): nobody else finds it. The
 * store is bounded for each owner and in all, and entries expire; the oldest goes first. A response that is gone is
 * not found, and neither is a chain that lost one of its links.
 */
import type { StoredResponse } from "./stored-response.ts";

export interface ResponseStore {
  /** Found by every later `get` of this process. One that is larger than the bound is not kept. */
  keep(owner: string, response: StoredResponse): void;
  /** @throws GatewayError when the store cannot be read */
  get(owner: string, id: string): Promise<StoredResponse | undefined>;
  /** The response and those it continues, oldest first; undefined when one is missing or they are too many or too much. */
  chain(owner: string, id: string): Promise<readonly StoredResponse[] | undefined>;
  /** The response that an item belongs to. */
  findItem(owner: string, itemId: string): Promise<StoredResponse | undefined>;
  /** Bytes that the question brings, told without reading them; 0 for one that finds nothing. */
  sizeOf(asked: ReferenceKind, owner: string, id: string): Promise<number>;
  /** @returns whether it was there */
  remove(owner: string, id: string): Promise<boolean>;
  close(): Promise<void>;
}

/** What is found by `get`, `chain` and `findItem`. */
export type ReferenceKind = "response" | "chain" | "item";

/** The part of a store that calls read when they continue earlier responses. */
export type ResponseReader = Pick<ResponseStore, "get" | "chain" | "findItem">;

export interface StoreLimits {
  /** A response is forgotten so long after it was made. */
  readonly ttlMs: number;
  readonly responseBytesMax: number;
  readonly ownerResponsesMax: number;
  readonly ownerBytesMax: number;
  readonly bytesMax: number;
  /** Links of one chain: each is read again for every call that continues it. */
  readonly chainLengthMax: number;
  /** Of one chain, stored responses included: all of it is read at once. */
  readonly chainBytesMax: number;
}

const MiB = 1024 * 1024;

/**
 * Thirty days, as the provider promises; a conversation with pictures; a key's day of work; a disk that holds it; an
 * agent's longest session; what one call may say.
 */
export const defaultStoreLimits: StoreLimits = {
  ttlMs: 30 * 24 * 3_600_000,
  responseBytesMax: 16 * MiB,
  ownerResponsesMax: 20_000,
  ownerBytesMax: 256 * MiB,
  bytesMax: 2 * 1024 * MiB,
  chainLengthMax: 1_000,
  chainBytesMax: 32 * MiB,
};

/** Memory is dearer, and lost with the process. */
export const memoryStoreLimits: StoreLimits = {
  ...defaultStoreLimits,
  ttlMs: 24 * 3_600_000,
  ownerBytesMax: 16 * MiB,
  bytesMax: 128 * MiB,
};
