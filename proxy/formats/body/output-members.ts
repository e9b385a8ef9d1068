/** Lists the members of each format that limit the length of a response and the number of its candidates. */
import type { BodyEditor } from "#proxy/json/body-editor";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { isAbsent } from "./body-rules.ts";

export interface OutputMembers {
  /** Objects that may hold them; absent: the body itself. */
  readonly inside?: readonly string[];
  /** The cap of one response: several where a format has several names for it. */
  readonly caps: readonly string[];
  readonly candidates: readonly string[];
}

/** Formats of calls whose reply is text. */
export type TextFormat = ChatWireFormat | "Completions";

export const outputMembers: Readonly<Record<TextFormat, OutputMembers>> = {
  ChatCompletions: { caps: ["max_completion_tokens", "max_tokens"], candidates: ["n"] },
  Completions: { caps: ["max_tokens"], candidates: ["n", "best_of"] },
  Responses: { caps: ["max_output_tokens"], candidates: [] },
  Messages: { caps: ["max_tokens"], candidates: [] },
  GenerateContent: {
    inside: ["generationConfig", "generation_config"],
    caps: ["maxOutputTokens", "max_output_tokens"],
    candidates: ["candidateCount", "candidate_count"],
  },
};

/**
 * Caps the response (`quota.unboundedOutput: Cap`) after body rules: in the member that the body has, unless it says less.
 * @param own the member where there is none
 */
export function capOutput(editor: BodyEditor, cap: number, caps: readonly string[], own: string): void {
  let isThere = false;
  for (const name of caps) {
    if (isAbsent(editor, name)) continue;
    isThere = true;
    const said = Number(editor.text(name));
    // What is no number caps nothing; less than nothing is how some servers spell no cap.
    if (!(said >= 0 && said <= cap)) editor.set(name, String(cap));
  }
  if (!isThere) editor.set(own, String(cap));
}
