/** Finds and removes a member by its path, in bodies whose members have one spelling: `reasoning.effort`. */
import type { BodyEditor } from "#proxy/json/body-editor";
import { type Member, type ScannedObject, scanMembers } from "#proxy/json/strict-json";
import { presentMember } from "./parameter-rules.ts";

export interface FoundMember {
  readonly object: ScannedObject;
  readonly member: Member;
  /** The member as the client spelled it. */
  readonly name: string;
  /** Its path as the client spelled it. */
  readonly param: string;
}

/** How a format finds a member of one object; undefined for one that is absent or null. */
export type FindMember = (object: ScannedObject, name: string, prefix: string) => FoundMember | undefined;

const findAsSpelled: FindMember = (object, name, prefix) => {
  const member = presentMember(object, name);
  return member === undefined ? undefined : { object, member, name, param: prefix + name };
};

/**
 * @param path through objects only: a member of a list's elements has none
 * @throws GatewayError `invalid_json` when an object on the way has a member twice
 */
export function findMemberAt(
  object: ScannedObject,
  path: string,
  find: FindMember = findAsSpelled,
  prefix = "",
): FoundMember | undefined {
  const [first, rest] = split(path);
  const found = find(object, first, prefix);
  return found === undefined || rest === undefined ? found : findMemberBelow(found, rest, find);
}

/** Goes on inside a member that was found; undefined where it is no object. */
export function findMemberBelow({ object, member, param }: FoundMember, path: string, find = findAsSpelled) {
  if (member.kind !== "object") return undefined;
  return findMemberAt(scanMembers(object.bytes, member.valueStart, member.valueEnd), path, find, `${param}.`);
}

/** Takes a member out, where its path leads through objects. @param spellings of one step of the path */
export function removeAt(editor: BodyEditor, path: string, spellings = (name: string) => [name]): void {
  const [first, rest] = split(path);
  for (const name of spellings(first)) {
    if (rest === undefined) editor.remove(name);
    else if (editor.text(name)?.trimStart().startsWith("{") === true) removeAt(editor.nested(name), rest, spellings);
  }
}

function split(path: string): readonly [string, string | undefined] {
  const dot = path.indexOf(".");
  return dot < 0 ? [path, undefined] : [path.slice(0, dot), path.slice(dot + 1)];
}
