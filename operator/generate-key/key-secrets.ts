/**
 * Makes the Secrets that `generate` credentials ask for in the cluster. Each is written once, never over another, and
 * is owned by its ApiKey, so that it is deleted with it (docs/design/configuration.md 2.1).
 *
 * It runs beside the reconcile loop and never within it: an API server that is slow to write must not delay a
 * revocation. Only the leader writes. A Secret that could not be written is tried again, with growing waits, while a
 * credential waits for it.
 */
import type { WantedSecret } from "#operator/compile/result";
import type { ApiClient } from "#operator/kubernetes/api/api-client";
import { isApiStatus } from "#operator/kubernetes/api/api-error";
import { secretResource } from "#operator/kubernetes/api/api-object";
import type { Leadership } from "#operator/kubernetes/leader-election/leadership";
import type { ResourceSet } from "#operator/resources/resource";
import { mintKey } from "./generate-secret.ts";
import { Refusals } from "./refusals.ts";

export interface KeySecretsOptions {
  readonly client: Pick<ApiClient, "create">;
  readonly leadership: Pick<Leadership, "isLeader">;
  readonly resources: Pick<ResourceSet, "apiKeys">;
  /** The Secrets that credentials wait for now. */
  readonly wanted: () => readonly WantedSecret[];
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: { info(message: string): void; warn(message: string): void };
  /** Called for each Secret that could not be written, with the cause. */
  readonly onFailure?: (wanted: WantedSecret, why: string) => void;
  /** Whether the credential had a key before: its Secret was deleted. */
  readonly hadKey?: (wanted: WantedSecret) => boolean;
  /** Called for each key that replaces an earlier one, which is refused from now on. */
  readonly onReplaced?: (wanted: WantedSecret) => void;
  /** After the first refusal; later ones wait longer. */
  readonly retryMs?: number;
}

/** Secrets written at a time: as many as statuses, so that neither fills the API server's queue. */
const inFlightMax = 8;

export class KeySecrets {
  readonly #options: KeySecretsOptions;
  readonly #stop = new AbortController();
  /** Secrets that this operator wrote, with the uid of the owner; the watch brings them in a moment. */
  readonly #made = new Map<string, string>();
  /** Wanted Secrets, and whether each replaces a key: asked at once, because status forgets it in a moment. */
  readonly #replaces = new Map<string, boolean>();
  #making: Promise<void> | undefined;
  #isAsked = false;
  readonly #refusals: Refusals;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: KeySecretsOptions) {
    this.#options = options;
    this.#refusals = new Refusals(options.retryMs ?? 5_000);
  }

  /** Makes the wanted Secrets, now or after the running pass. Never fails. */
  enqueue(): void {
    if (this.#stop.signal.aborted) return;
    this.#isAsked = true;
    this.#making ??= this.#makeAll().finally(() => {
      this.#making = undefined;
      // A request came after the last pass had read what is wanted.
      if (this.#isAsked) this.enqueue();
    });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#retry);
    await this.#making;
  }

  async #makeAll(): Promise<void> {
    while (this.#isAsked) {
      this.#isAsked = false;
      const wanted = this.#options.wanted();
      const names = new Set(wanted.map(identityOf));
      for (const known of [this.#made, this.#replaces])
        for (const name of known.keys()) if (!names.has(name)) known.delete(name);
      this.#refusals.keepOnly(names);
      for (const secret of wanted) this.#noteKeyBefore(secret);
      if (!(await this.#makeThese(wanted))) this.#enqueueLater();
    }
  }

  /** Makes several at a time, those of one name one after the other. @returns whether there is nothing more to do */
  async #makeThese(wanted: readonly WantedSecret[]): Promise<boolean> {
    const inFlight = new Set<Promise<void>>();
    let isComplete = true;
    for (const sameName of this.#inOrder(wanted)) {
      while (inFlight.size >= inFlightMax) await Promise.race(inFlight);
      const making = this.#makeInTurn(sameName).then((isMade) => {
        isComplete &&= isMade;
        inFlight.delete(making);
      });
      inFlight.add(making);
    }
    await Promise.all(inFlight);
    return isComplete;
  }

  #inOrder(wanted: readonly WantedSecret[]): WantedSecret[][] {
    const groups = [...Map.groupBy(wanted, identityOf).values()];
    if (this.#refusals.isEmpty) return groups;
    const attemptsOf = ([first]: WantedSecret[]) => (first ? this.#refusals.attemptsOf(placeOf(first)) : 0);
    return groups.sort((one, other) => attemptsOf(one) - attemptsOf(other));
  }

  async #makeInTurn(wanted: readonly WantedSecret[]): Promise<boolean> {
    for (const secret of wanted) {
      // The next leader makes them.
      if (this.#stop.signal.aborted || !this.#options.leadership.isLeader()) return true;
      if (!(await this.#make(secret))) return false;
    }
    return true;
  }

  #noteKeyBefore(wanted: WantedSecret): void {
    const name = identityOf(wanted);
    if (!this.#replaces.has(name)) this.#replaces.set(name, this.#options.hadKey?.(wanted) ?? false);
  }

  #enqueueLater(): void {
    clearTimeout(this.#retry);
    if (this.#stop.signal.aborted) return;
    this.#retry = setTimeout(() => this.enqueue(), this.#refusals.dueInMs(performance.now())).unref();
  }

  /** @returns whether there is nothing more to do about it */
  async #make(wanted: WantedSecret): Promise<boolean> {
    const { client, resources, randomBytes, log, onReplaced } = this.#options;
    const { namespace, secretName, key, prefix, ownerName } = wanted;
    const uid = resources.apiKeys.get(`${namespace}/${ownerName}`)?.metadata.uid;
    // The ApiKey is gone; without its uid as owner, the Secret would outlive it.
    if (uid === undefined || this.#made.get(identityOf(wanted)) === uid) return true;
    if (!this.#refusals.begin(placeOf(wanted), performance.now())) return false;
    const owner = { apiVersion: "tollgate.dev/v1alpha1", kind: "ApiKey", name: ownerName, uid, controller: true };
    const secret = {
      metadata: { name: secretName, namespace, ownerReferences: [owner] },
      type: "Opaque",
      stringData: { [key]: mintKey(prefix, randomBytes) },
    };
    try {
      await client.create(secretResource, secret, { namespace, signal: this.#stop.signal });
      this.#refusals.accept(placeOf(wanted));
      this.#made.set(identityOf(wanted), uid);
      log.info(`ApiKey ${namespace}/${ownerName}: wrote a new key to the Secret ${secretName}`);
      if (this.#replaces.get(identityOf(wanted)) === true) onReplaced?.(wanted);
      return true;
    } catch (error) {
      // There is such a Secret. The watch brings it and tells whether it belongs to this key; it is never overwritten.
      if (isApiStatus(error, 409)) {
        this.#refusals.accept(placeOf(wanted));
        return true;
      }
      if (this.#stop.signal.aborted) return true;
      this.#tellRefusal(wanted, error);
      return false;
    }
  }

  /** A whole namespace may be refused: the operator's log tells it once, and an Event tells it at each key. */
  #tellRefusal(wanted: WantedSecret, error: unknown): void {
    const { log, onFailure } = this.#options;
    const { namespace, secretName, ownerName } = wanted;
    const why = error instanceof Error ? error.message : String(error);
    if (this.#refusals.refuse(placeOf(wanted), error, performance.now())) {
      const what = `ApiKey ${namespace}/${ownerName}: the operator cannot create the Secret ${secretName}`;
      log.warn(`${what}: ${why}; it tries again, and logs no other refusal with the same cause`);
    }
    onFailure?.(wanted, why);
  }
}

function placeOf(wanted: WantedSecret) {
  return { namespace: wanted.namespace, identity: identityOf(wanted) };
}

function identityOf({ namespace, secretName }: WantedSecret): string {
  return `${namespace}/${secretName}`;
}
