/** Own kinds from a manifest: the one place where a validated value becomes a typed spec. */
import type { AnyResource, ObjectMeta, Origin, OwnKind } from "../resources/resource.ts";
import type { AccountSpec, ApiKeySpec, ChannelSpec, ModelRouteSpec } from "../resources/spec-types.ts";
import { isRecord, type ManifestObject } from "./manifest-file.ts";
import type { ReadResult } from "./read-resource.ts";

export function validateOwnKind(
  kind: OwnKind,
  object: ManifestObject,
  metadata: ObjectMeta,
  origin: Origin,
  _previous: AnyResource | undefined,
): ReadResult {
  const spec = object.value["spec"];
  if (!isRecord(spec)) return { problems: [{ path: ["spec"], field: "spec", message: "spec is required." }] };
  // The casts follow a validation by the schema the types are generated from.
  switch (kind) {
    case "ApiKey":
      return { resource: { kind, metadata, origin, spec: spec as unknown as ApiKeySpec } };
    case "Channel":
      return { resource: { kind, metadata, origin, spec: spec as unknown as ChannelSpec } };
    case "ModelRoute":
      return { resource: { kind, metadata, origin, spec: spec as unknown as ModelRouteSpec } };
    case "Account":
      return { resource: { kind, metadata, origin, spec: spec as AccountSpec } };
    default:
      return kind satisfies never;
  }
}
