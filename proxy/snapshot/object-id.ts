/**
 * Names wire objects: `key/<namespace>/<name>`, `credential/<namespace>/<channel>/<name>`, `setting/fleet` and so on,
 * one for each resource, so that a change costs one small message (docs/design/configuration.md 3.13).
 */
import type { WireObject } from "./types.gen.ts";

/** @returns the id under which an object is published, versioned and acknowledged. */
export function objectId(object: WireObject): string {
  switch (object.kind) {
    case "key":
    case "account":
    case "channel":
    case "route":
      return `${object.kind}/${object.namespace}/${object.name}`;
    case "credential":
      return `credential/${object.namespace}/${object.channel}/${object.name}`;
    case "fleet":
      return "setting/fleet";
    default:
      return object satisfies never;
  }
}

/** True for ids of ApiKeys, whose fallback is to deny (docs/design/configuration.md 3.3). */
export function isKeyId(id: string): boolean {
  return id.startsWith("key/");
}
