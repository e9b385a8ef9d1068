/** The cap of a completion, which some clients call as chat completions do. */
import { isAbsent } from "#proxy/formats/body/body-rules";
import type { BodyEditor } from "#proxy/json/body-editor";
import type { ScannedObject } from "#proxy/json/strict-json";
import { membersNamed, type Spellings } from "#proxy/parameters/member-rules";

/** The documented name first: where both are there it counts. */
export const capNames = ["max_tokens", "max_completion_tokens"] as const;

export const completionSpellings: Spellings = [{ names: capNames, isAlike: true }];

/** Says the cap under the one name that the upstream takes: another would bound nothing there. */
export function moveCap(editor: BodyEditor, to: (typeof capNames)[number]): void {
  const from = capNames.find((name) => !isAbsent(editor, name));
  const text = from === undefined ? undefined : editor.text(from);
  for (const name of capNames) if (name !== to && editor.has(name)) editor.remove(name);
  if (text !== undefined && from !== to) editor.set(to, text);
}

/**
 * The client's spellings of a parameter that a route calls unsupported. Chat's name of the cap is never among them: routes
 * say so of servers that take the other one, and without its cap a completion would cost what the model likes.
 */
export function spelledIn(body: ScannedObject): (name: string) => readonly string[] {
  const namesIn = membersNamed(body, completionSpellings);
  return (name) => (name === "max_completion_tokens" ? [] : namesIn(name));
}
