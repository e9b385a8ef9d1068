/** A manifest object as the resource it describes: validated as the API server would, then typed. */
import {
  type AnyResource,
  type ObjectMeta,
  type Origin,
  type OwnResource,
  ProtectedData,
  type ResourceKind,
} from "../resources/resource.ts";
import type { FieldPath } from "../schema/problem.ts";
import { type KnownObject, validateResource } from "../schema/validate-resource.ts";

export interface ReadProblem {
  readonly path: FieldPath;
  readonly field: string;
  readonly message: string;
}

/** The resource, or why there is none. */
export type ReadResult = { readonly resource: AnyResource } | { readonly problems: readonly ReadProblem[] };

/**
 * @param object plain values of one document
 * @param generation what the resource's generation will be
 * @param previous the last good version, for rules about changes
 */
export function readResource(
  object: unknown,
  generation: number,
  origin: Origin,
  previous: AnyResource | undefined,
): ReadResult {
  const spec = previous && "spec" in previous ? previous.spec : undefined;
  const validation = validateResource(object, spec === undefined ? {} : { previous: { spec } });
  return validation.object
    ? { resource: toResource(validation.object, generation, origin) }
    : { problems: validation.problems };
}

function toResource(object: KnownObject, generation: number, origin: Origin): AnyResource {
  const { namespace = "", name, labels = {} } = object.metadata;
  const metadata: ObjectMeta = { namespace: object.kind === "Namespace" ? "" : namespace, name, labels, generation };
  switch (object.kind) {
    case "Secret":
      return { kind: "Secret", metadata, origin, data: new ProtectedData(decode(object.data)) };
    case "ConfigMap": {
      const values = [...Object.entries(object.data ?? {}), ...decode(object.binaryData)];
      return { kind: "ConfigMap", metadata, origin, data: new ProtectedData(new Map(values)) };
    }
    case "Namespace":
      return { kind: "Namespace", metadata, origin };
    case "ApiKey":
      return { kind: "ApiKey", metadata, origin, spec: object.spec };
    case "Channel":
      return { kind: "Channel", metadata, origin, spec: object.spec };
    case "ModelRoute":
      return { kind: "ModelRoute", metadata, origin, spec: object.spec };
    case "Account":
      return { kind: "Account", metadata, origin, spec: object.spec };
    default:
      return object satisfies never;
  }
}

function decode(data: { readonly [key: string]: string } | undefined): Map<string, string> {
  const entries = Object.entries(data ?? {});
  return new Map(entries.map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));
}

/** An object that is there but must not be used as it is written: keys lose their spec, others keep the last good. */
export function refusedResource(
  kind: ResourceKind,
  metadata: ObjectMeta,
  origin: Origin,
  invalid: string,
  before: AnyResource | undefined,
): OwnResource | undefined {
  switch (kind) {
    case "ApiKey":
      return { kind, metadata, origin, invalid };
    case "Channel":
      return { ...(before?.kind === kind && before.spec && { spec: before.spec }), kind, metadata, origin, invalid };
    case "ModelRoute":
      return { ...(before?.kind === kind && before.spec && { spec: before.spec }), kind, metadata, origin, invalid };
    case "Account":
      return { ...(before?.kind === kind && before.spec && { spec: before.spec }), kind, metadata, origin, invalid };
    default:
      // Secrets, ConfigMaps and Namespaces have no status: the list of problems is where they are reported.
      return undefined;
  }
}
