/**
 * Converts tools of the responses format that the client itself runs, under types of their own: the shells, patches,
 * and a search among its tools (docs/design/responses.md 5, docs/design/agents.md 2; shapes as of openai 7.57).
 *
 * To an upstream of another format each is a function, and the calls and results of the history are that function's;
 * the model's calls go back to the client as items of the tool's type.
 */

import { argumentsObject } from "#proxy/json/json-text";
import { asList, asObject, asText, isObject, type JsonObject, member } from "#proxy/json/json-value";

export type ClientRunType = "local_shell" | "shell" | "apply_patch" | "tool_search";

export interface ClientRunTool {
  /** Of the tool, and the name of its function. */
  readonly type: ClientRunType;
  /** Prefix of its items' ids. */
  readonly idPrefix: string;
  readonly description: string;
  readonly schema: JsonObject;
  /** Arguments of the function, of an item of the history. */
  readonly argumentsOf: (item: JsonObject) => unknown;
  /** Members of an item by the arguments of a call; without any while the call is open. */
  readonly membersOf: (args: JsonObject) => JsonObject;
}

const text = { type: "string" } as const;
const texts = { type: "array", items: text } as const;
const whole = { type: "integer" } as const;

const localShell: ClientRunTool = {
  type: "local_shell",
  idPrefix: "lsh_",
  description: "Runs a command on the user's machine and returns its output.",
  schema: objectOf({ command: texts, timeout_ms: whole, working_directory: text, user: text }, ["command"]),
  argumentsOf: (item) => without(member(item, "action"), ["type"]),
  membersOf: (args) => ({
    action: {
      type: "exec",
      command: typeof args["command"] === "string" ? ["bash", "-lc", args["command"]] : textsOf(args["command"]),
      env: asObject(args["env"]) ?? {},
      ...given(args, ["timeout_ms", "user", "working_directory"]),
    },
  }),
};

const shell: ClientRunTool = {
  type: "shell",
  idPrefix: "sh_",
  description: "Runs commands in a shell of the user and returns the output of each.",
  schema: objectOf({ commands: texts, timeout_ms: whole, max_output_length: whole }, ["commands"]),
  argumentsOf: (item) => member(item, "action"),
  membersOf: (args) => ({
    action: {
      commands: typeof args["commands"] === "string" ? [args["commands"]] : textsOf(args["commands"]),
      timeout_ms: args["timeout_ms"] ?? null,
      max_output_length: args["max_output_length"] ?? null,
    },
    environment: { type: "local" },
  }),
};

const patchKinds = ["create_file", "update_file", "delete_file"] as const;

const applyPatch: ClientRunTool = {
  type: "apply_patch",
  idPrefix: "apc_",
  description:
    "Creates, updates or deletes one file of the user. `diff` is a patch of the file in the V4A format, without which " +
    "only a deletion may stand.",
  schema: objectOf({ type: { type: "string", enum: patchKinds }, path: text, diff: text }, ["type", "path"]),
  argumentsOf: (item) => member(item, "operation"),
  membersOf: (args) => {
    const operation = asObject(args["operation"]) ?? args;
    const type = patchKinds.find((kind) => kind === operation["type"]) ?? "update_file";
    const path = asText(operation["path"]);
    return { operation: type === "delete_file" ? { type, path } : { type, path, diff: asText(operation["diff"]) } };
  },
};

const toolSearch: ClientRunTool = {
  type: "tool_search",
  idPrefix: "tsc_",
  description: "Searches further tools, which can be called from then on.",
  schema: objectOf({ query: text }, ["query"]),
  argumentsOf: (item) => item["arguments"],
  membersOf: (args) => ({ arguments: args, execution: "client" }),
};

const all: readonly ClientRunTool[] = [localShell, shell, applyPatch, toolSearch];

/** @returns undefined for a type that is none, or a tool that its own provider runs: a container's shell, its search */
export function clientRunTool(tool: unknown): ClientRunTool | undefined {
  const found = all.find(({ type }) => type === member(tool, "type"));
  if (found?.type === "tool_search") return member(tool, "execution") === "client" ? found : undefined;
  if (found?.type !== "shell") return found;
  const environment = member(member(tool, "environment"), "type");
  return environment === undefined || environment === "local" ? found : undefined;
}

/** The tool whose call an item of the history is; undefined for a call that its own provider ran. */
export function toolOfCall(item: JsonObject): ClientRunTool | undefined {
  const found = all.find(({ type }) => `${type}_call` === item["type"]);
  if (found?.type === "tool_search") return item["execution"] === "server" ? undefined : found;
  return member(item["environment"], "type") === "container_reference" ? undefined : found;
}

/** Arguments of a call of the history as JSON text. */
export function argumentsOfItem(tool: ClientRunTool, item: JsonObject): string {
  const args = tool.argumentsOf(item);
  if (typeof args === "string" && argumentsObject(args) !== undefined) return args;
  return JSON.stringify(isObject(args) ? given(args, Object.keys(args)) : {});
}

/** What a client's tool returned, as text. */
export function outputOfItem(item: JsonObject): string {
  const output = item["output"];
  if (typeof output === "string") return output;
  if (item["type"] === "tool_search_output") return JSON.stringify({ tools: asList(item["tools"]).flatMap(nameOf) });
  return output === undefined || output === null ? asText(item["status"]) : JSON.stringify(output);
}

function nameOf(tool: unknown): readonly string[] {
  const name = asText(member(tool, "name"));
  if (member(tool, "type") !== "namespace") return [name];
  return asList(member(tool, "tools")).map((inner) => `${name}__${asText(member(inner, "name"))}`);
}

function objectOf(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}

function textsOf(value: unknown): readonly string[] {
  return asList(value).filter((entry) => typeof entry === "string");
}

/** Those members that say something. */
function given(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => ((object[name] ?? null) === null ? [] : [[name, object[name]]])));
}

function without(value: unknown, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(asObject(value) ?? {}).filter(([name]) => !names.includes(name)));
}
