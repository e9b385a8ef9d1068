/**
 * Lists the capabilities that a proxy needs for a version of a key: the fields, and values of fields, that are newer
 * than those that every proxy of protocol version 1 knows (docs/design/configuration.md 3.3).
 *
 * A proxy denies a key with a field that it does not know, so in a rolling upgrade the first key to use a new field
 * would be dead on every proxy that has not been replaced. Therefore a proxy names this list in `hello`, and the
 * operator holds a key back that needs more than every connected proxy has named (`operator/push/capability-gate.ts`).
 * Objects of other kinds need no such care: a proxy that cannot use one keeps its last good version by itself
 * (docs/design/configuration.md 3.2).
 *
 * To add a field or a value to keys in `schema.json`, add it here too: a test compares the two.
 */
import type { Key, WireObject } from "#proxy/snapshot/types.gen";

export interface KeyCapability {
  /** The wire field, or one value of it: `key.expiresAt`, `key.limits.unit=Cost`. Said in `hello`, so it never changes. */
  readonly name: string;
  /** The same as the author of a resource writes it. */
  readonly field: string;
  /**
   * The rest of a key, the very same key where it does not use this. To tell what else an edit changes; never sent, as it
   * allows more than its author wants.
   */
  readonly without: (key: Key) => Key;
}

/**
 * Oldest first; an entry may go when no proxy without it is supported any more. The first is the youngest field of
 * version 1: every proxy knows it, and so this way of holding back has run in every release before the day it is needed.
 */
export const capabilities: readonly KeyCapability[] = [
  {
    name: "key.maxInFlight",
    field: "spec.concurrency.maxInFlight",
    without(key) {
      const { maxInFlight, ...rest } = key;
      return maxInFlight === undefined ? key : rest;
    },
  },
  {
    name: "key.capabilities=Passthrough",
    field: "spec.capabilities Passthrough",
    without(key) {
      if (key.capabilities?.includes("Passthrough") !== true) return key;
      return { ...key, capabilities: key.capabilities.filter((capability) => capability !== "Passthrough") };
    },
  },
];

/** What a proxy of this version says in `hello`. */
export const capabilityNames: readonly string[] = capabilities.map(({ name }) => name);

/** The capabilities without which a version cannot be understood; none for nearly all. */
export function capabilitiesNeeded(object: WireObject): readonly KeyCapability[] {
  if (object.kind !== "key") return [];
  return capabilities.filter(({ without }) => without(object) !== object);
}

/** Names of the capabilities that a proxy did not name; names that this version does not know are those of a newer one. */
export function capabilitiesLacked(named: readonly string[]): readonly string[] {
  return capabilityNames.filter((name) => !named.includes(name));
}
