/**
 * The settings as a flat list, read from `settings.schema.json`. Flags, variables, file, help and the reference page
 * come from it.
 *
 * There is one spelling rule (docs/design/operations.md 4): setting `egress.allowCIDRs` is the flag
 * `--egress-allow-cidrs` and the variable `TOLLGATE_EGRESS_ALLOW_CIDRS`.
 */
import { readFileSync } from "node:fs";

export const commands = ["standalone", "operator", "proxy", "validate", "explain", "key"] as const;
export type Command = (typeof commands)[number];

export type SettingFormat = "duration" | "size" | "address" | "ip" | "operator-address" | "path" | "cidr" | "text";
export type SettingValue = string | number | boolean | readonly string[];

export interface Setting {
  /** Path in the settings file, for example `egress.allowCIDRs`. */
  readonly name: string;
  /** With its dashes. */
  readonly flag: string;
  readonly variable: string;
  readonly type: "string" | "integer" | "boolean" | "list";
  readonly format: SettingFormat;
  readonly choices: readonly string[] | undefined;
  /** Of the text, or of each item of a list. */
  readonly pattern: RegExp | undefined;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  /** Of a list. */
  readonly itemsMax: number | undefined;
  /** As written in the schema: `10s`, `32MiB`. Undefined: no value. */
  readonly defaultValue: SettingValue | undefined;
  /** The behaviour without a value, in words. */
  readonly unset: string | undefined;
  /** Commands that do not start without it. */
  readonly requiredBy: readonly string[];
  /** Only a flag: no variable, no place in the file. */
  readonly isFlagOnly: boolean;
  readonly commands: readonly string[];
  readonly description: string;
  /** Heading in help and reference. */
  readonly group: string;
  readonly placeholder: string;
}

interface SchemaNode {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly default?: SettingValue;
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly "x-commands"?: readonly string[];
  readonly "x-unset"?: string;
  readonly "x-required"?: boolean | readonly string[];
  readonly "x-flag-only"?: boolean;
  readonly "x-placeholder"?: string;
}

/** All settings in the order of the schema. */
export const settingList: readonly Setting[] = readSettingList();

/** The environment variable of a setting: `egress.allowCIDRs` is `TOLLGATE_EGRESS_ALLOW_CIDRS`. */
export function variableOf(name: string): string {
  return `TOLLGATE_${kebabCase(name).replaceAll("-", "_").toUpperCase()}`;
}

/** `egress.allowCIDRs` -> `egress-allow-cidrs`. */
export function kebabCase(name: string): string {
  return name
    .replaceAll(".", "-")
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase();
}

/** Settings that a command reads. */
export function settingsOf(command: Command): readonly Setting[] {
  return settingList.filter((setting) => setting.commands.includes(command));
}

function readSettingList(): Setting[] {
  const root: SchemaNode = JSON.parse(readFileSync(new URL("../settings.schema.json", import.meta.url), "utf8"));
  return flatten(root, "", "General");
}

function flatten(node: SchemaNode, prefix: string, group: string): Setting[] {
  return Object.entries(node.properties ?? {}).flatMap(([member, child]) => {
    const name = prefix === "" ? member : `${prefix}.${member}`;
    return child.type === "object" ? flatten(child, name, child.title ?? name) : [toSetting(name, child, group)];
  });
}

function toSetting(name: string, node: SchemaNode, group: string): Setting {
  const flag = `--${kebabCase(name)}`;
  const type =
    node.type === "array" ? "list" : node.type === "integer" || node.type === "boolean" ? node.type : "string";
  const format = readFormat(node.items?.format ?? node.format);
  return {
    name,
    flag,
    variable: variableOf(name),
    type,
    format,
    choices: node.enum,
    pattern: readPattern(node.items?.pattern ?? node.pattern),
    minimum: node.minimum,
    maximum: node.maximum,
    itemsMax: node.maxItems,
    defaultValue: node.default,
    unset: node["x-unset"],
    requiredBy: requiredBy(node),
    isFlagOnly: node["x-flag-only"] ?? false,
    commands: node["x-commands"] ?? [],
    description: node.description ?? "",
    group,
    placeholder: node["x-placeholder"] ?? node.enum?.join("|") ?? placeholderOf(type, format),
  };
}

/** `x-required` is true for all commands of a setting, or names some of them. */
function requiredBy(node: SchemaNode): readonly string[] {
  const required = node["x-required"] ?? false;
  return typeof required === "boolean" ? (required ? (node["x-commands"] ?? []) : []) : required;
}

function readPattern(pattern: string | undefined): RegExp | undefined {
  return pattern === undefined ? undefined : new RegExp(pattern);
}

function readFormat(format: string | undefined): SettingFormat {
  switch (format) {
    case "duration":
    case "size":
    case "address":
    case "ip":
    case "operator-address":
    case "path":
    case "cidr":
      return format;
    default:
      return "text";
  }
}

function placeholderOf(type: Setting["type"], format: SettingFormat): string {
  if (type === "integer") return "N";
  if (type === "boolean") return "";
  const word = {
    duration: "TIME",
    size: "SIZE",
    address: "HOST:PORT",
    ip: "ADDRESS",
    "operator-address": "unix:PATH",
    path: "PATH",
    cidr: "CIDR",
    text: "TEXT",
  };
  return type === "list" ? `${word[format]},...` : word[format];
}
