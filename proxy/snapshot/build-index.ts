/**
 * Builds the lookups that requests use, as snapshots that share everything a change did not touch.
 *
 * Objects lie in 256 buckets by the hash of their id, keys' credentials in 256 shards by the first byte of their
 * digest; a draft copies a bucket the first time it writes to it, so one changed key among 100,000 costs the copy of a
 * few hundred entries. Invariants: a finished snapshot never changes. Its digest covers every object *received*, also
 * the versions of refused objects, so that both sides agree on the digest whatever a proxy understands. A refused key
 * is not live (deny); any other refused object keeps its last good version. The proxy's `sync/` calls it, and the
 * operator's publisher before it pushes anything.
 */
import {
  addVersion,
  type BucketSums,
  bucketCount,
  bucketOf,
  emptySums,
  fleetDigest,
  subtractVersion,
} from "./digest.ts";
import { RouteIndex } from "./index/route-index.ts";
import { isKeyId } from "./object-id.ts";
import type { FoundKey, Snapshot } from "./snapshot.ts";
import type { Account, Channel, Credential, Fleet, Key, Route, WireObject } from "./types.gen.ts";

/** What is held of one object. */
export interface HeldObject {
  readonly version: string;
  /** Length of its canonical JSON. */
  readonly size: number;
  /** The live object: the last good one where this version could not be taken, undefined for a key denied. */
  readonly object: WireObject | undefined;
}

type Bucket = Map<string, HeldObject>;
/** Several keys of one digest are an error of the operator; the first by id wins, whatever the order of arrival. */
type CredentialShard = Map<string, Key | readonly Key[]>;

/** What is live now and must not be, until the transaction that says so arrives: ids of keys, digests of credentials. */
export interface Revoked {
  readonly keys: ReadonlySet<string>;
  readonly credentials: ReadonlySet<string>;
}

interface Parts {
  readonly revision: number;
  readonly digest: string;
  readonly sums: BucketSums;
  readonly buckets: readonly Bucket[];
  readonly credentialShards: readonly CredentialShard[];
  readonly channelsById: ReadonlyMap<string, Channel>;
  readonly routesById: ReadonlyMap<string, Route>;
  readonly routeIndex: RouteIndex;
  readonly keyCount: number;
  readonly size: number;
  readonly revoked: Revoked | undefined;
}

const defaultFleet: Fleet = {
  kind: "fleet",
  name: "fleet",
  requireAccount: false,
  unboundedOutput: "Reserve",
  inputEstimate: "Estimate",
  defaultOutputReserve: 4096,
  revocation: "Finish",
  egressAllowCIDRs: [],
};

/** A snapshot with what the push protocol needs of it besides the requests' lookups. */
export class IndexedSnapshot implements Snapshot {
  readonly revision: number;
  readonly digest: string;
  readonly keyCount: number;
  readonly channels: readonly Channel[];
  readonly fleet: Fleet;
  /** Characters of canonical JSON of all objects. */
  readonly size: number;
  readonly #parts: Parts;
  /** Found so far, by namespace and name: a call asks for one more than once, and an id put together costs more. */
  readonly #accounts = new Map<string, Map<string, Account | undefined>>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.revision = parts.revision;
    this.digest = parts.digest;
    this.keyCount = parts.keyCount;
    this.size = parts.size;
    this.channels = [...parts.channelsById.values()];
    const fleet = this.held("setting/fleet")?.object;
    this.fleet = fleet?.kind === "fleet" ? fleet : defaultFleet;
  }

  get routes(): readonly Route[] {
    return this.#parts.routeIndex.routes;
  }

  /** Not to be written to. */
  get sums(): BucketSums {
    return this.#parts.sums;
  }

  /** For drafts only. */
  get parts(): Parts {
    return this.#parts;
  }

  findKey(sha256: string): FoundKey | undefined {
    const found = this.#parts.credentialShards[shardOf(sha256)]?.get(sha256);
    if (found === undefined) return undefined;
    const key = isSeveral(found) ? found[0] : found;
    const credential = key?.credentials.find((one) => one.sha256 === sha256);
    if (key === undefined || credential === undefined) return undefined;
    if (this.#parts.revoked !== undefined && this.#isRevoked(key, sha256)) return undefined;
    return { key, credential };
  }

  keyByName(namespace: string, name: string): Key | undefined {
    const id = `key/${namespace}/${name}`;
    const object = this.held(id)?.object;
    return object?.kind === "key" && this.#parts.revoked?.keys.has(id) !== true ? object : undefined;
  }

  account(namespace: string, name: string): Account | undefined {
    let known = this.#accounts.get(namespace);
    if (known === undefined) {
      known = new Map();
      this.#accounts.set(namespace, known);
    }
    let account = known.get(name);
    if (account === undefined && !known.has(name)) {
      const object = this.held(`account/${namespace}/${name}`)?.object;
      account = object?.kind === "account" ? object : undefined;
      known.set(name, account);
    }
    return account;
  }

  channel(id: string): Channel | undefined {
    return this.#parts.channelsById.get(id);
  }

  credential(channelNamespace: string, channel: string, name: string): Credential | undefined {
    const object = this.held(`credential/${channelNamespace}/${channel}/${name}`)?.object;
    return object?.kind === "credential" ? object : undefined;
  }

  routesFor(model: string): readonly Route[] {
    return this.#parts.routeIndex.routesFor(model);
  }

  /** What is held under an id, also where its version could not be taken. */
  held(id: string): HeldObject | undefined {
    return this.#parts.buckets[bucketOf(id)]?.get(id);
  }

  /** All that is held in one bucket. */
  bucket(index: number): ReadonlyMap<string, HeldObject> {
    return this.#parts.buckets[index] ?? new Map();
  }

  /** All live objects, in no order. */
  *objects(): Generator<[id: string, object: WireObject]> {
    for (const bucket of this.#parts.buckets) {
      for (const [id, held] of bucket) if (held.object !== undefined) yield [id, held.object];
    }
  }

  /** The same configuration with other revocations in force; shares everything. */
  withRevoked(revoked: Revoked | undefined): IndexedSnapshot {
    return new IndexedSnapshot({ ...this.#parts, revoked });
  }

  /** The same configuration under another revision: nothing else changed. */
  withRevision(revision: number): IndexedSnapshot {
    return new IndexedSnapshot({ ...this.#parts, revision });
  }

  #isRevoked(key: Key, sha256: string): boolean {
    const revoked = this.#parts.revoked;
    return revoked?.credentials.has(sha256) === true || revoked?.keys.has(`key/${key.namespace}/${key.name}`) === true;
  }
}

/** Changes to a snapshot, invisible until `finish`. Write each id at most once. */
export class SnapshotDraft {
  readonly #base: IndexedSnapshot;
  readonly #sums: BucketSums;
  readonly #buckets: Bucket[];
  readonly #shards: CredentialShard[];
  readonly #ownBuckets = new Uint8Array(bucketCount);
  readonly #ownShards = new Uint8Array(bucketCount);
  #channels: Map<string, Channel> | undefined;
  #routes: Map<string, Route> | undefined;
  #keyCount: number;
  #size: number;

  constructor(base: IndexedSnapshot) {
    this.#base = base;
    this.#sums = base.sums.slice();
    this.#buckets = [...base.parts.buckets];
    this.#shards = [...base.parts.credentialShards];
    this.#keyCount = base.keyCount;
    this.#size = base.size;
  }

  /** The object under an id in the present draft. */
  held(id: string): HeldObject | undefined {
    return this.#buckets[bucketOf(id)]?.get(id);
  }

  /** Forgets everything in a bucket, which will be sent anew; last good versions are still found in the base. */
  clearBucket(index: number): void {
    for (const id of [...(this.#buckets[index]?.keys() ?? [])]) this.remove(id);
  }

  /** Takes an object that was found valid. */
  put(id: string, version: string, size: number, object: WireObject): void {
    this.remove(id);
    this.#hold(id, { version, size, object });
  }

  /** Notes a version that cannot be taken: a key is denied, anything else keeps the last good version. */
  refuse(id: string, version: string, size: number): void {
    const lastGood = isKeyId(id) ? undefined : (this.held(id) ?? this.#base.held(id))?.object;
    this.remove(id);
    this.#hold(id, { version, size, object: lastGood });
  }

  remove(id: string): void {
    const bucket = bucketOf(id);
    const held = this.#buckets[bucket]?.get(id);
    if (held === undefined) return;
    this.#ownBucket(bucket).delete(id);
    subtractVersion(this.#sums, bucket, held.version);
    this.#size -= held.size;
    if (held.object !== undefined) this.#unindex(held.object);
  }

  /** Digest of the present draft. */
  digest(): string {
    return fleetDigest(this.#sums);
  }

  /** @returns the new snapshot. The draft must not be used afterwards. */
  finish(revision: number): IndexedSnapshot {
    const base = this.#base.parts;
    return new IndexedSnapshot({
      revision,
      digest: this.digest(),
      sums: this.#sums,
      buckets: this.#buckets,
      credentialShards: this.#shards,
      channelsById: this.#channels ?? base.channelsById,
      routesById: this.#routes ?? base.routesById,
      routeIndex: this.#routes === undefined ? base.routeIndex : new RouteIndex(this.#routes.values()),
      keyCount: this.#keyCount,
      size: this.#size,
      revoked: base.revoked,
    });
  }

  #hold(id: string, held: HeldObject): void {
    const bucket = bucketOf(id);
    this.#ownBucket(bucket).set(id, held);
    addVersion(this.#sums, bucket, held.version);
    this.#size += held.size;
    if (held.object !== undefined) this.#index(held.object);
  }

  #index(object: WireObject): void {
    if (object.kind === "key") {
      this.#keyCount += 1;
      for (const { sha256 } of object.credentials) {
        const shard = this.#ownShard(shardOf(sha256));
        const present = shard.get(sha256);
        shard.set(sha256, present === undefined ? object : inOrder([...severalOf(present), object]));
      }
    } else if (object.kind === "channel") {
      this.#ownChannels().set(`${object.namespace}/${object.name}`, object);
    } else if (object.kind === "route") {
      this.#ownRoutes().set(`${object.namespace}/${object.name}`, object);
    }
  }

  #unindex(object: WireObject): void {
    if (object.kind === "key") {
      this.#keyCount -= 1;
      for (const { sha256 } of object.credentials) {
        const shard = this.#ownShard(shardOf(sha256));
        const rest = severalOf(shard.get(sha256)).filter((key) => key !== object);
        const [only] = rest;
        if (only === undefined) shard.delete(sha256);
        else shard.set(sha256, rest.length === 1 ? only : rest);
      }
    } else if (object.kind === "channel") {
      this.#ownChannels().delete(`${object.namespace}/${object.name}`);
    } else if (object.kind === "route") {
      this.#ownRoutes().delete(`${object.namespace}/${object.name}`);
    }
  }

  #ownBucket(index: number): Bucket {
    const bucket = this.#ownBuckets[index] === 1 ? this.#buckets[index] : new Map(this.#buckets[index]);
    const own = bucket ?? new Map();
    this.#ownBuckets[index] = 1;
    this.#buckets[index] = own;
    return own;
  }

  #ownShard(index: number): CredentialShard {
    const shard = this.#ownShards[index] === 1 ? this.#shards[index] : new Map(this.#shards[index]);
    const own = shard ?? new Map();
    this.#ownShards[index] = 1;
    this.#shards[index] = own;
    return own;
  }

  #ownChannels(): Map<string, Channel> {
    this.#channels ??= new Map(this.#base.parts.channelsById);
    return this.#channels;
  }

  #ownRoutes(): Map<string, Route> {
    this.#routes ??= new Map(this.#base.parts.routesById);
    return this.#routes;
  }
}

function shardOf(sha256: string): number {
  return (hexDigit(sha256.charCodeAt(0)) << 4) | hexDigit(sha256.charCodeAt(1));
}

/** Of a digest, which has lower-case digits; of anything else some digit, always the same. */
function hexDigit(code: number): number {
  return (code <= 0x39 ? code : code - 0x57) & 0xf;
}

function isSeveral(value: Key | readonly Key[]): value is readonly Key[] {
  return Array.isArray(value);
}

function severalOf(value: Key | readonly Key[] | undefined): readonly Key[] {
  if (value === undefined) return [];
  return isSeveral(value) ? value : [value];
}

function inOrder(keys: readonly Key[]): Key | readonly Key[] {
  const sorted = [...keys].sort((one, other) =>
    `${one.namespace}/${one.name}` < `${other.namespace}/${other.name}` ? -1 : 1,
  );
  const [only] = sorted;
  return sorted.length === 1 && only !== undefined ? only : sorted;
}

/** What a proxy starts from: nothing is allowed. */
export const emptySnapshot: IndexedSnapshot = new IndexedSnapshot({
  revision: 0,
  digest: fleetDigest(emptySums()),
  sums: emptySums(),
  buckets: Array.from({ length: bucketCount }, () => new Map()),
  credentialShards: Array.from({ length: bucketCount }, () => new Map()),
  channelsById: new Map(),
  routesById: new Map(),
  routeIndex: new RouteIndex([]),
  keyCount: 0,
  size: 0,
  revoked: undefined,
});
