/**
 * Knows which keys of which Secrets and ConfigMaps objects refer to. Only these are kept.
 *
 * It counts references instead of listing them by object, so that 100,000 keys cost little; whoever changes an object
 * removes the references of the version before.
 */
import { secretOfCredential } from "#operator/resources/api-key";
import type { AnyResource } from "#operator/resources/resource";

/** Keys that one object needs of one Secret or ConfigMap. */
export interface DataReference {
  readonly kind: "Secret" | "ConfigMap";
  /** `namespace/name`. */
  readonly identity: string;
  readonly keys: readonly string[];
}

const defaultBundleKey = "ca.crt";
const certificateKeys: readonly string[] = ["tls.crt", "tls.key"];

/** The data that an object needs, by what its spec refers to. */
export function dataReferencesOf(resource: AnyResource | undefined): DataReference[] {
  if (resource === undefined || !("spec" in resource) || resource.spec === undefined) return [];
  const { namespace } = resource.metadata;
  if (resource.kind === "ApiKey") {
    // It is refused whatever its Secrets hold, so it must not wait for one.
    if (resource.metadata.isDeleting) return [];
    return resource.spec.credentials.flatMap((credential): DataReference[] => {
      const place = secretOfCredential(credential);
      return place ? [{ kind: "Secret", identity: `${namespace}/${place.name}`, keys: [place.key] }] : [];
    });
  }
  if (resource.kind !== "Channel") return [];
  const { credentials = [], tls } = resource.spec;
  const references = credentials.map(
    ({ secretKeyRef: { name, key } }): DataReference => ({
      kind: "Secret",
      identity: `${namespace}/${name}`,
      keys: [key],
    }),
  );
  if (tls?.caBundleRef) {
    const { name, key = defaultBundleKey } = tls.caBundleRef;
    references.push({ kind: "ConfigMap", identity: `${namespace}/${name}`, keys: [key] });
  }
  if (tls?.clientCertificateRef) {
    const identity = `${namespace}/${tls.clientCertificateRef.name}`;
    references.push({ kind: "Secret", identity, keys: certificateKeys });
  }
  return references;
}

export class WantedData {
  /** Keys wanted of each object, one entry for each reference: nearly always one, so a list is all it takes. */
  readonly #wanted = { Secret: new Map<string, string[]>(), ConfigMap: new Map<string, string[]>() };

  /** The keys of an object that are referred to; undefined when there are none. */
  keysOf(kind: "Secret" | "ConfigMap", identity: string): Iterable<string> | undefined {
    const keys = this.#wanted[kind].get(identity);
    return keys && new Set(keys);
  }

  /** Whether an object refers to it. */
  isWanted(kind: "Secret" | "ConfigMap", identity: string): boolean {
    return this.#wanted[kind].has(identity);
  }

  /** The objects that are referred to, as `namespace/name`. */
  identities(kind: "Secret" | "ConfigMap"): Iterable<string> {
    return this.#wanted[kind].keys();
  }

  add(references: readonly DataReference[]): void {
    for (const { kind, identity, keys } of references) {
      const wanted = this.#wanted[kind].get(identity);
      if (wanted === undefined) this.#wanted[kind].set(identity, [...keys]);
      else wanted.push(...keys);
    }
  }

  /** @returns the references that no object has any more */
  remove(references: readonly DataReference[]): DataReference[] {
    return references.filter(({ kind, identity, keys }) => {
      const wanted = this.#wanted[kind].get(identity);
      if (wanted === undefined) return false;
      for (const key of keys) {
        const index = wanted.indexOf(key);
        if (index !== -1) wanted.splice(index, 1);
      }
      return wanted.length === 0 && this.#wanted[kind].delete(identity);
    });
  }
}
