/** The references of a ModelRoute, and the public names that it claims. */
import type { ModelRouteResource } from "./resource.ts";

/** The public model name: `spec.model`, else the object's own name. */
export function publicNameOf({ metadata, spec }: ModelRouteResource): string {
  return spec?.model ?? metadata.name;
}

/** All names that clients may use for the route; an Internal one has none. */
export function publicNamesOf(route: ModelRouteResource): string[] {
  if (!route.spec || route.spec.visibility === "Internal") return [];
  return [...new Set([publicNameOf(route), ...(route.spec.aliases ?? [])])];
}

export function referencesOfModelRoute({ metadata, spec }: ModelRouteResource): string[] {
  const references: string[] = [];
  for (const { channelRef, modelRef } of spec?.targets ?? []) {
    if (channelRef) references.push(`Channel/${channelRef.namespace ?? metadata.namespace}/${channelRef.name}`);
    if (modelRef) references.push(`ModelRoute/${metadata.namespace}/${modelRef.name}`);
  }
  return references;
}
