/** A set of validated objects, indexed for following references, with the type of the problems found between them. */
import type { Channel, ModelRoute } from "#operator/resources/types.gen";
import type { ConfigMap, Namespace, Secret } from "#operator/schema/builtin-kinds";
import type { FieldPath, Problem } from "#operator/schema/problem";
import type { KnownObject } from "#operator/schema/validate-resource";

export interface ReferenceProblem {
  /** The object that refers. */
  readonly object: KnownObject;
  readonly problem: Problem;
  /** A warning does not make a set invalid. */
  readonly severity: "error" | "warning";
}

/** The objects of a set by kind and `namespace/name`; a Namespace by its name. */
export interface ObjectSet {
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly configMaps: ReadonlyMap<string, ConfigMap>;
  readonly namespaces: ReadonlyMap<string, Namespace>;
  readonly channels: ReadonlyMap<string, Channel>;
  readonly routes: ReadonlyMap<string, ModelRoute>;
  readonly accounts: ReadonlySet<string>;
  /** Secrets that `generate` credentials will write. */
  readonly generatedSecrets: ReadonlySet<string>;
}

export type Report = (object: KnownObject, path: FieldPath, message: string, severity?: "error" | "warning") => void;

/** Indexes objects; one given twice is reported and the first counts. */
export function indexObjects(objects: readonly KnownObject[], report: Report): ObjectSet {
  const secrets = new Map<string, Secret>();
  const configMaps = new Map<string, ConfigMap>();
  const namespaces = new Map<string, Namespace>();
  const channels = new Map<string, Channel>();
  const routes = new Map<string, ModelRoute>();
  const accounts = new Set<string>();
  const generatedSecrets = new Set<string>();
  const seen = new Set<string>();
  for (const object of objects) {
    const { namespace, name } = object.metadata;
    const key = `${namespace}/${name}`;
    const identity = `${object.kind} ${key}`;
    if (seen.has(identity)) {
      report(object, ["metadata", "name"], `Duplicate value: another ${object.kind} ${key} is defined before this one`);
      continue;
    }
    seen.add(identity);
    if (object.kind === "Secret") secrets.set(key, object);
    else if (object.kind === "ConfigMap") configMaps.set(key, object);
    else if (object.kind === "Namespace") namespaces.set(name, object);
    else if (object.kind === "Channel") channels.set(key, object);
    else if (object.kind === "ModelRoute") routes.set(key, object);
    else if (object.kind === "Account") accounts.add(key);
    else
      for (const { generate } of object.spec.credentials) {
        if (generate !== undefined) generatedSecrets.add(`${namespace}/${generate.secretName}`);
      }
  }
  return { secrets, configMaps, namespaces, channels, routes, accounts, generatedSecrets };
}
