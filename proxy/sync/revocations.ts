/**
 * Holds keys and credentials that were revoked before the transaction that removes them arrived.
 *
 * A revocation ends with the transaction of its revision or a later one of the same operator. Another operator counts
 * revisions anew: its first transaction or confirmation ends a revocation where it is known to have seen as much of the
 * source as this proxy has (docs/design/configuration.md 3.12 sees to that). Where the source counts nothing, only a
 * change of the revoked object itself ends it, so that an operator that lags behind cannot bring a dead key back.
 */
import type { IndexedSnapshot, Revoked } from "#proxy/snapshot/build-index";

interface Revocation {
  /** Whose transaction ends it; undefined: the object must change. */
  readonly untilRevision: number | undefined;
  /** Id of the key it belongs to, empty for a credential of none, and the version that was revoked. */
  readonly keyId: string;
  readonly version: string | undefined;
}

export class Revocations {
  readonly #keys = new Map<string, Revocation>();
  readonly #credentials = new Map<string, Revocation>();

  /** Takes keys (by id) and credentials (by digest) out of use until `revision`. */
  add(live: IndexedSnapshot, revision: number, keys: readonly string[], credentials: readonly string[]): void {
    for (const id of keys) {
      this.#keys.set(id, { untilRevision: revision, keyId: id, version: live.held(id)?.version });
    }
    for (const sha256 of credentials) {
      const key = live.findKey(sha256)?.key;
      const keyId =
        key === undefined ? (this.#credentials.get(sha256)?.keyId ?? "") : `key/${key.namespace}/${key.name}`;
      this.#credentials.set(sha256, { untilRevision: revision, keyId, version: live.held(keyId)?.version });
    }
  }

  /** Another operator counts revisions anew. @param isInformed it has seen all that this proxy has */
  beginCountingAnew(isInformed: boolean): void {
    for (const revocations of [this.#keys, this.#credentials]) {
      for (const [name, one] of revocations)
        revocations.set(name, { ...one, untilRevision: isInformed ? 0 : undefined });
    }
  }

  /** A configuration is live: ends what it contains. */
  endBy(live: IndexedSnapshot): void {
    for (const revocations of [this.#keys, this.#credentials]) {
      for (const [name, { untilRevision, keyId, version }] of revocations) {
        const isContained =
          untilRevision === undefined
            ? keyId === "" || live.held(keyId)?.version !== version
            : untilRevision <= live.revision;
        if (isContained) revocations.delete(name);
      }
    }
  }

  /** What is revoked now; undefined for nothing. */
  get inForce(): Revoked | undefined {
    if (this.#keys.size === 0 && this.#credentials.size === 0) return undefined;
    return { keys: new Set(this.#keys.keys()), credentials: new Set(this.#credentials.keys()) };
  }
}
