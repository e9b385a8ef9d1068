/** The members of a body as JSON text, without its bytes: as much of an editor as rules need. */
import type { EditableMembers } from "./body-rules.ts";

export class MemberTexts implements EditableMembers {
  readonly #texts = new Map<string, string>();

  text(name: string): string | undefined {
    return this.#texts.get(name);
  }

  set(name: string, jsonText: string): void {
    this.#texts.set(name, jsonText);
  }

  remove(name: string): void {
    this.#texts.delete(name);
  }

  /** `"name":value` of each, behind commas. */
  write(): string {
    return [...this.#texts].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",");
  }
}
