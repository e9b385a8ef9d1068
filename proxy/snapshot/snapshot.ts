/**
 * Defines the view of the configuration that a request pins: immutable lookups over the wire objects.
 *
 * `build-index.ts` builds it, and `sync/snapshot-store.ts` swaps it whole. A request pins one at its start and uses it
 * until its last byte, so a push in between never mixes two configurations in one response.
 */
import type { Account, Channel, Credential, Fleet, Key, KeyCredential, Route } from "./types.gen.ts";

export interface FoundKey {
  readonly key: Key;
  readonly credential: KeyCredential;
}

export interface Snapshot {
  /** Revision of the last transaction applied; 0 before the first. */
  readonly revision: number;
  /** Digest over all objects, as the operator computes it (hex). */
  readonly digest: string;
  readonly fleet: Fleet;
  readonly keyCount: number;
  /** By SHA-256 (hex) of the secret presented. Constant time in the number of keys. */
  findKey(sha256: string): FoundKey | undefined;
  keyByName(namespace: string, name: string): Key | undefined;
  account(namespace: string, name: string): Account | undefined;
  /** @param id `namespace/name` */
  channel(id: string): Channel | undefined;
  credential(channelNamespace: string, channel: string, name: string): Credential | undefined;
  /**
   * Routes that serve a public model name, best match first: exact names and aliases, then the longest pattern.
   * Several, where namespaces that do not see each other use one name; the caller keeps those open to its key.
   */
  routesFor(model: string): readonly Route[];
  /** All routes in order of namespace/name, for model lists and debugging. */
  readonly routes: readonly Route[];
  readonly channels: readonly Channel[];
}
