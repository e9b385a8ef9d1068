/**
 * Describes the tools that Anthropic knows by name and the client runs itself (docs/design/messages.md 5): the shell,
 * the file editor, the memory folder. Their schemas are not in the request, so other formats get them from here.
 */
import type { JsonObject } from "#proxy/json/json-value";

export interface KnownTool {
  readonly description: string;
  readonly schema: JsonObject;
}

const text = { type: "string" } as const;

const shell: KnownTool = {
  description: "Runs a command in a persistent shell session of the user's machine.",
  schema: {
    type: "object",
    properties: {
      command: { ...text, description: "The command to run." },
      restart: { type: "boolean", description: "Restarts the shell instead of running a command." },
    },
  },
};

const lineRange = { type: "array", items: { type: "integer" }, description: "First and last line, for view." } as const;

const editor: KnownTool = {
  description: "Views and edits text files.",
  schema: {
    type: "object",
    properties: {
      command: { ...text, enum: ["view", "create", "str_replace", "insert", "undo_edit"] },
      path: { ...text, description: "Path of the file or folder." },
      view_range: lineRange,
      file_text: { ...text, description: "Content, for create." },
      old_str: { ...text, description: "Text to replace; it must occur exactly once." },
      new_str: { ...text, description: "Replacement, or text to insert." },
      insert_line: { type: "integer", description: "Line behind which to insert." },
      insert_text: { ...text, description: "Text to insert." },
    },
    required: ["command", "path"],
  },
};

const memory: KnownTool = {
  description: "Keeps notes as files in the folder /memories.",
  schema: {
    type: "object",
    properties: {
      command: { ...text, enum: ["view", "create", "str_replace", "insert", "delete", "rename"] },
      path: { ...text, description: "Path inside /memories." },
      view_range: lineRange,
      file_text: { ...text, description: "Content, for create." },
      old_str: { ...text, description: "Text to replace; it must occur exactly once." },
      new_str: { ...text, description: "Replacement." },
      insert_line: { type: "integer", description: "Line behind which to insert." },
      insert_text: { ...text, description: "Text to insert." },
      old_path: { ...text, description: "Path to rename from." },
      new_path: { ...text, description: "Path to rename to." },
    },
    required: ["command"],
  },
};

const known: readonly (readonly [RegExp, KnownTool])[] = [
  [/^bash_\d{8}$/, shell],
  [/^text_editor_\d{8}$/, editor],
  [/^memory_\d{8}$/, memory],
];

/** @returns undefined for a type that is no such tool */
export function knownClientTool(type: string): KnownTool | undefined {
  return known.find(([pattern]) => pattern.test(type))?.[1];
}
