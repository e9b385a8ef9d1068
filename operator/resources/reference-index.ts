/**
 * Indexes the references between objects, to find the objects that must be compiled again after a change, for example
 * of a Secret.
 *
 * References to objects that do not exist yet are kept too, so that the arrival of an object triggers those that wait
 * for it.
 */

import { referencesOfApiKey } from "./api-key.ts";
import { referencesOfChannel } from "./channel.ts";
import { referencesOfModelRoute } from "./model-route.ts";
import type { AnyResource } from "./resource.ts";

/** `<kind>/<namespace>/<name>`; a name within the index, not on the wire. */
export type ReferenceKey = string;

export function referenceKey(kind: AnyResource["kind"], namespace: string, name: string): ReferenceKey {
  return `${kind}/${namespace}/${name}`;
}

/** What one object refers to, existing or not. */
export function referencesOf(resource: AnyResource): readonly ReferenceKey[] {
  switch (resource.kind) {
    case "ApiKey":
      return referencesOfApiKey(resource);
    case "Channel":
      return referencesOfChannel(resource);
    case "ModelRoute":
      return referencesOfModelRoute(resource);
    default:
      return [];
  }
}

export class ReferenceIndex {
  readonly #referencesOf = new Map<ReferenceKey, readonly ReferenceKey[]>();
  readonly #dependentsOf = new Map<ReferenceKey, Set<ReferenceKey>>();

  /** Replaces what an object refers to; an empty list forgets it. */
  set(object: ReferenceKey, references: readonly ReferenceKey[]): void {
    const before = this.#referencesOf.get(object);
    if (before === undefined && references.length === 0) return;
    for (const reference of before ?? []) {
      const dependents = this.#dependentsOf.get(reference);
      dependents?.delete(object);
      if (dependents?.size === 0) this.#dependentsOf.delete(reference);
    }
    if (references.length === 0) this.#referencesOf.delete(object);
    else this.#referencesOf.set(object, references);
    for (const reference of references) {
      let dependents = this.#dependentsOf.get(reference);
      if (!dependents) this.#dependentsOf.set(reference, (dependents = new Set()));
      dependents.add(object);
    }
  }

  /** What an object refers to, as last set. */
  referencesOf(object: ReferenceKey): readonly ReferenceKey[] {
    return this.#referencesOf.get(object) ?? [];
  }

  dependentsOf(object: ReferenceKey): Iterable<ReferenceKey> {
    return this.#dependentsOf.get(object) ?? [];
  }
}
