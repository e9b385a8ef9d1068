/**
 * Holds the observed statuses: the status of each object in the API server, as the watch brought it.
 *
 * The status writer compares with it, so it needs no memory of its own writes and an operator that restarts writes
 * nothing. Conditions are shared with the status reconciler.
 */
import { resultId } from "#operator/compile/compilation";
import { type ApiObject, compareVersions } from "#operator/kubernetes/api/api-object";
import type { OwnKind, ResourceKind } from "#operator/resources/resource";
import { ConditionPool } from "#operator/status/condition-pool";
import type { StatusDocument } from "#operator/status/status-document";
import { foreignManagerOf, readStatus } from "./read-status.ts";

/** One object as it was last seen. */
export interface ObservedStatus {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  /** Undefined: no status was written yet. */
  readonly document: StatusDocument | undefined;
  /** The field manager that wrote it last, when that was no operator. */
  readonly foreignManager?: string;
}

/** Owner of the fields; the same for all operators and versions, or fields of a former one would stay for ever. */
export const statusFieldManager = "tollgate-status";

export class ObservedStatuses {
  readonly pool = new ConditionPool();
  readonly #statuses = new Map<string, ObservedStatus>();
  readonly #listeners = new Set<(id: string) => void>();

  get(id: string): ObservedStatus | undefined {
    return this.#statuses.get(id);
  }

  /** Calls back with the `resultId` of each object that came with another version. */
  onObserved(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Notes an object from the API server.
   *
   * @param isLatest it counts whatever was observed before, as after a restore: it was just fetched or listed
   */
  observe(kind: ResourceKind, object: ApiObject, isLatest = false): void {
    if (!isOwnKind(kind)) return;
    const { uid, resourceVersion, namespace = "", name, generation = 1 } = object.metadata;
    if (uid === undefined || resourceVersion === undefined) return;
    const id = resultId(kind, namespace, name);
    const before = this.#statuses.get(id);
    if (before?.uid === uid && !isLatest && compareVersions(resourceVersion, before.resourceVersion) <= 0) return;
    const document = readStatus(kind, object, this.pool);
    const foreignManager = foreignManagerOf(object, statusFieldManager);
    this.#statuses.set(id, {
      uid,
      resourceVersion,
      generation,
      document,
      ...(foreignManager !== undefined && { foreignManager }),
    });
    for (const listener of this.#listeners) listener(id);
  }

  forget(id: string): void {
    this.#statuses.delete(id);
  }
}

function isOwnKind(kind: ResourceKind): kind is OwnKind {
  return kind === "ApiKey" || kind === "Channel" || kind === "ModelRoute" || kind === "Account";
}
