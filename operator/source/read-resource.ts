/** Turns an object of a manifest into a resource: validates it as the API server would and gives it its type. */
import { generatedForAnnotation } from "#operator/resources/api-key";
import {
  type AnyResource,
  type ObjectMeta,
  type Origin,
  type OwnResource,
  ProtectedData,
  type ResourceKind,
} from "#operator/resources/resource";
import type { FieldPath } from "#operator/schema/problem";
import { type KnownObject, validateResource } from "#operator/schema/validate-resource";

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
    ? { resource: toResource(validation.object, { generation }, origin) }
    : { problems: validation.problems };
}

/**
 * A validated object as a resource.
 *
 * @param facts what its source knows of it besides name and labels
 */
export function toResource(
  object: KnownObject,
  facts: Omit<ObjectMeta, "namespace" | "name" | "labels">,
  origin?: Origin,
): AnyResource {
  const { namespace = "", name, labels = {} } = object.metadata;
  const place = object.kind === "Namespace" ? "" : namespace;
  const common = { metadata: { namespace: place, name, labels, ...facts }, ...(origin && { origin }) };
  switch (object.kind) {
    case "Secret": {
      const name = /^ApiKey\/(.+)$/.exec(object.metadata.annotations?.[generatedForAnnotation] ?? "")?.[1];
      const metadata = { ...common.metadata, ...(name !== undefined && { owner: { name } }) };
      return { kind: "Secret", ...common, metadata, data: new ProtectedData(decode(object.data)) };
    }
    case "ConfigMap": {
      const values = [...Object.entries(object.data ?? {}), ...decode(object.binaryData)];
      return { kind: "ConfigMap", ...common, data: new ProtectedData(new Map(values)) };
    }
    case "Namespace":
      return { kind: "Namespace", ...common };
    case "ApiKey":
      return { kind: "ApiKey", ...common, spec: object.spec };
    case "Channel":
      return { kind: "Channel", ...common, spec: object.spec };
    case "ModelRoute":
      return { kind: "ModelRoute", ...common, spec: object.spec };
    case "Account":
      return { kind: "Account", ...common, spec: object.spec };
    default:
      return object satisfies never;
  }
}

function decode(data: { readonly [key: string]: string } | undefined): Map<string, string> {
  const entries = Object.entries(data ?? {});
  return new Map(entries.map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));
}

/** An object that must not be used as it is written: a key loses its spec, others keep their last good one. */
export function refusedResource(
  kind: ResourceKind,
  metadata: ObjectMeta,
  origin: Origin | undefined,
  invalid: string,
  before: AnyResource | undefined,
): OwnResource | undefined {
  const common = { metadata, invalid, ...(origin && { origin }) };
  switch (kind) {
    case "ApiKey":
      return { kind, ...common };
    case "Channel":
      return { ...(before?.kind === kind && before.spec && { spec: before.spec }), kind, ...common };
    case "ModelRoute":
      return { ...(before?.kind === kind && before.spec && { spec: before.spec }), kind, ...common };
    case "Account":
      return { ...(before?.kind === kind && before.spec && { spec: before.spec }), kind, ...common };
    default:
      // Secrets, ConfigMaps and Namespaces have no status: the list of problems is where they are reported.
      return undefined;
  }
}
