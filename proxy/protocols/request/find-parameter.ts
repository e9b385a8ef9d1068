/** Finds a route's parameter in a body whose members stand at the top level. */
import type { Member, ScannedObject } from "../../http/strict-json.ts";
import { presentMember } from "./parameter-rules.ts";

/**
 * @param spellings other members that mean the same, by the interface's name
 */
export function topLevelFinder(body: ScannedObject, spellings: Readonly<Record<string, readonly string[]>> = {}) {
  return (name: string): { object: ScannedObject; member: Member; param: string } | undefined => {
    for (const spelled of [name, ...(spellings[name] ?? [])]) {
      const member = presentMember(body, spelled);
      if (member !== undefined) return { object: body, member, param: spelled };
    }
    return undefined;
  };
}
