/**
 * Lists the capabilities that a proxy needs for a version of an object: the fields, and values of fields, that are newer
 * than those that every proxy of protocol version 1 knows (docs/design/configuration.md 3.3).
 *
 * A proxy denies a key with a field that it does not know, and keeps the last good version of any other object, or none. In
 * a rolling upgrade the first key to use a new field would be dead on every proxy that has not been replaced, and the first
 * channel would be missing there. Therefore a proxy names this list in `hello`, and the operator holds a version back that
 * needs more than every connected proxy has named (`operator/push/capability-gate.ts`).
 *
 * To add a field or a value to `schema.json`, add it here too: a test compares the two.
 */
import type { Capability, WireObject } from "#proxy/snapshot/types.gen";

export interface WireCapability {
  /** The wire field, or one value of it: `key.expiresAt`, `key.limits.unit=Cost`. Said in `hello`, so it never changes. */
  readonly name: string;
  /** The same as the author of a resource writes it. */
  readonly field: string;
  /**
   * The rest of an object, the very same one where it does not use this. To tell what else an edit changes; never sent, as
   * it is not what its author wants.
   */
  readonly without: (object: WireObject) => WireObject;
}

/**
 * Oldest first; an entry may go when no proxy without it is supported any more. The first is the youngest field of
 * version 1: every proxy knows it, and so this way of holding back has run in every release before the day it is needed.
 */
export const capabilities: readonly WireCapability[] = [
  {
    name: "key.maxInFlight",
    field: "spec.concurrency.maxInFlight",
    without(object) {
      if (object.kind !== "key" || object.maxInFlight === undefined) return object;
      const { maxInFlight: _maxInFlight, ...rest } = object;
      return rest;
    },
  },
  {
    name: "key.capabilities=Passthrough",
    field: "spec.capabilities Passthrough",
    without: (object) => (object.kind === "key" ? withoutPassthrough(object) : object),
  },
  {
    name: "route.capabilities=Passthrough",
    field: "spec.capabilities Passthrough",
    without: (object) => (object.kind === "route" ? withoutPassthrough(object) : object),
  },
  {
    name: "channel.models.capabilities=Passthrough",
    field: "spec.models[].capabilities Passthrough",
    without(object) {
      if (object.kind !== "channel" || object.models === undefined) return object;
      const models = object.models.map(withoutPassthrough);
      return models.every((model, index) => model === object.models?.[index]) ? object : { ...object, models };
    },
  },
  {
    name: "channel.formats.dialect",
    field: "spec.formats[].dialect",
    without(object) {
      if (object.kind !== "channel" || object.formats.every(({ dialect }) => dialect === undefined)) return object;
      return { ...object, formats: object.formats.map(({ dialect: _dialect, ...rest }) => rest) };
    },
  },
  {
    name: "channel.quirks",
    field: "spec.preset",
    without(object) {
      if (object.kind !== "channel" || object.quirks === undefined) return object;
      const { quirks: _quirks, ...rest } = object;
      return rest;
    },
  },
];

function withoutPassthrough<Holder extends { readonly capabilities?: readonly Capability[] }>(holder: Holder): Holder {
  if (holder.capabilities?.includes("Passthrough") !== true) return holder;
  return { ...holder, capabilities: holder.capabilities.filter((capability) => capability !== "Passthrough") };
}

/** What a proxy of this version says in `hello`. */
export const capabilityNames: readonly string[] = capabilities.map(({ name }) => name);

/** The capabilities without which a version cannot be understood; none for nearly all. */
export function capabilitiesNeeded(object: WireObject): readonly WireCapability[] {
  return capabilities.filter(({ without }) => without(object) !== object);
}

/** Names of the capabilities that a proxy did not name; names that this version does not know are those of a newer one. */
export function capabilitiesLacked(named: readonly string[]): readonly string[] {
  return capabilityNames.filter((name) => !named.includes(name));
}
