/**
 * Reads settings from flags, then `TOLLGATE_*` variables, then the file given by `--config`, then defaults
 * (docs/design/operations.md 4).
 *
 * Unknown flags and file members are errors, because a misspelt restriction must not be silently open. Unknown
 * variables are only a warning, because Kubernetes injects `TOLLGATE_..._PORT` for Services of that name. Pure except
 * for the file, which comes in as a function, so tests need neither.
 */
import { parseArgs } from "node:util";
import { parse as parseYaml } from "yaml";
import { InvalidValue, parseValue } from "./parse-value.ts";
import { type Command, kebabCase, type Setting, type SettingValue, settingList, settingsOf } from "./setting-list.ts";

const defaultOrigin = "the default";

/** Wrong use: exit status 2 and these lines. */
export class UsageError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "UsageError";
    this.problems = problems;
  }
}

export interface SettingSources {
  readonly flags: readonly string[];
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Reads the settings file. */
  readonly readFile: (path: string) => string;
}

export interface SettingsReading {
  readonly settings: Settings;
  /** Arguments that are not flags: files of `validate`. */
  readonly positionals: readonly string[];
  readonly warnings: readonly string[];
  readonly isHelpWanted: boolean;
}

/** The values of one command, by name of the setting; a wrong name or kind is a programming error and throws. */
export class Settings {
  readonly #values: ReadonlyMap<string, SettingValue>;
  readonly #written: ReadonlyMap<string, string>;
  readonly #sources: ReadonlyMap<string, string>;

  /**
   * @param written the text each value was read from, for those that a child process must get
   * @param sources where each was given
   */
  constructor(
    values: ReadonlyMap<string, SettingValue>,
    written: ReadonlyMap<string, string> = new Map(),
    sources: ReadonlyMap<string, string> = new Map(),
  ) {
    this.#values = values;
    this.#written = written;
    this.#sources = sources;
  }

  /** The setting as a person gave it: the variable, its place in the file, else the flag. */
  source(name: string): string {
    return this.#sources.get(name) ?? `--${kebabCase(name)}`;
  }

  /** The text of this value as a flag; undefined when the setting has no value here. */
  written(name: string): string | undefined {
    return this.#written.get(name);
  }

  /** Undefined when the setting has neither value nor default. */
  optionalText(name: string): string | undefined {
    const value = this.#values.get(name);
    if (value === undefined || typeof value === "string") return value;
    throw new TypeError(`setting ${name} is not a text`);
  }

  text(name: string): string {
    const value = this.optionalText(name);
    if (value === undefined) throw new TypeError(`setting ${name} has no value`);
    return value;
  }

  /** Integers; durations in milliseconds; sizes in bytes. */
  number(name: string): number {
    const value = this.optionalNumber(name);
    if (value === undefined) throw new TypeError(`setting ${name} has no value`);
    return value;
  }

  /** Undefined when the setting has neither value nor default. */
  optionalNumber(name: string): number | undefined {
    const value = this.#values.get(name);
    if (value === undefined || typeof value === "number") return value;
    throw new TypeError(`setting ${name} is not a number`);
  }

  flag(name: string): boolean {
    const value = this.#values.get(name);
    if (typeof value === "boolean") return value;
    throw new TypeError(`setting ${name} is not a boolean`);
  }

  list(name: string): readonly string[] {
    const value = this.#values.get(name);
    if (typeof value === "object") return value;
    throw new TypeError(`setting ${name} is not a list`);
  }
}

/** @throws UsageError with every problem found, not just the first */
export function readSettings(command: Command, sources: SettingSources): SettingsReading {
  const known = settingsOf(command);
  const problems: string[] = [];
  const { values: flags, positionals } = readFlags(command, known, sources.flags);
  if (flags.get("help") === true)
    return { settings: new Settings(new Map()), positionals, warnings: [], isHelpWanted: true };

  const file = readFile(
    command,
    flags.get("config") ?? sources.variables["TOLLGATE_CONFIG"],
    sources.readFile,
    problems,
  );
  const values = new Map<string, SettingValue>();
  const written = new Map<string, string>();
  const origins = new Map<string, string>();
  for (const setting of known) {
    const variable = setting.isFlagOnly ? undefined : sources.variables[setting.variable];
    const [origin, given] = flags.has(setting.flag.slice(2))
      ? [setting.flag, flags.get(setting.flag.slice(2))]
      : variable !== undefined
        ? [setting.variable, variable]
        : file.has(setting.name)
          ? [`${setting.name} in the file`, file.get(setting.name)]
          : [defaultOrigin, setting.defaultValue];
    if (given === undefined) {
      if (setting.requiredBy.includes(command)) problems.push(`${setting.flag} is required: ${setting.description}`);
      continue;
    }
    try {
      values.set(setting.name, parseValue(setting, given));
      written.set(setting.name, String(given));
      if (origin !== defaultOrigin) origins.set(setting.name, origin);
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      problems.push(`${origin} ${error.message}`);
    }
  }
  if (problems.length > 0) throw new UsageError(problems);
  return {
    settings: new Settings(values, written, origins),
    positionals,
    warnings: unknownVariables(sources.variables),
    isHelpWanted: false,
  };
}

function readFlags(command: Command, known: readonly Setting[], given: readonly string[]) {
  const options = Object.fromEntries([
    ["help", { type: "boolean" as const, short: "h" }],
    ["config", { type: "string" as const }],
    ...known.map(
      (setting) =>
        [
          setting.flag.slice(2),
          { type: setting.type === "boolean" ? ("boolean" as const) : ("string" as const) },
        ] as const,
    ),
  ]);
  try {
    const { values, positionals, tokens } = parseArgs({
      args: joinValues(given, known),
      options,
      allowPositionals: command === "validate",
      allowNegative: true,
      strict: true,
      tokens: true,
    });
    const names = tokens.flatMap((token) => (token.kind === "option" ? [token.name] : []));
    const repeated = names.find((name, index) => names.indexOf(name) !== index);
    if (repeated !== undefined) throw new UsageError([`--${repeated} is given twice`]);
    return { values: new Map<string, unknown>(Object.entries(values)), positionals };
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof TypeError)) throw error;
    throw new UsageError([describeFlagError(error.message, given)]);
  }
}

/**
 * Joins flags and values that begin with one `-`, such as a negative number: the parser would read them as flags of one
 * letter, and the setting has the better message.
 */
function joinValues(given: readonly string[], known: readonly Setting[]): string[] {
  const takesValue = new Set(known.filter(({ type }) => type !== "boolean").map(({ flag }) => flag));
  const joined: string[] = [];
  for (let index = 0; index < given.length; index += 1) {
    const [argument = "", value = ""] = given.slice(index, index + 2);
    const isJoined = takesValue.has(argument) && /^-[^-]/.test(value) && value !== "-h";
    joined.push(isJoined ? `${argument}=${value}` : argument);
    if (isJoined) index += 1;
  }
  return joined;
}

/** Names the setting that was perhaps meant, or the command that has it. */
function describeFlagError(message: string, given: readonly string[]): string {
  const unknown = /^Unknown option '(-[^']*)'/.exec(message)?.[1];
  if (unknown === undefined) {
    const [, valueless] = /^Option '(--[^' ]*).*' argument (?:is ambiguous|missing)/.exec(message) ?? [];
    return valueless === undefined ? (message.split("\n")[0] ?? message) : `${valueless} needs a value`;
  }
  const elsewhere = settingList.find((setting) => setting.flag === unknown);
  if (elsewhere !== undefined)
    return `${unknown} is a setting of ${elsewhere.commands.join(", ")}, not of this command`;
  const isLong = given.some((argument) => argument.startsWith(unknown));
  const near = isLong
    ? settingList.find((setting) => setting.flag.endsWith(unknown.slice(2)) || setting.flag.startsWith(unknown))
    : undefined;
  return `unknown flag ${unknown}${near === undefined ? "" : `: did you mean ${near.flag}?`}`;
}

/** Members of the settings file by name. A file serves several commands, so it may hold settings of other commands. */
function readFile(
  command: Command,
  path: unknown,
  read: (path: string) => string,
  problems: string[],
): ReadonlyMap<string, unknown> {
  const members = new Map<string, unknown>();
  if (typeof path !== "string" || path === "") return members;
  let content: unknown;
  try {
    content = parseYaml(read(path), { uniqueKeys: true, maxAliasCount: 0 });
  } catch (error) {
    problems.push(
      `--config ${path}: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : "cannot be read"}`,
    );
    return members;
  }
  collectMembers(content ?? {}, "", members);
  const allowed = new Map(settingList.map((setting) => [setting.name, setting]));
  for (const name of members.keys()) {
    const setting = allowed.get(name);
    if (setting === undefined) problems.push(`--config ${path}: there is no setting ${name}`);
    else if (setting.isFlagOnly) problems.push(`--config ${path}: ${name} can only be a flag of ${command}`);
  }
  return members;
}

function collectMembers(value: unknown, prefix: string, members: Map<string, unknown>): void {
  const isGroup = prefix === "" || settingList.some((setting) => setting.name.startsWith(`${prefix}.`));
  if (isGroup && typeof value === "object" && value !== null && !Array.isArray(value)) {
    for (const [name, child] of Object.entries(value))
      collectMembers(child, prefix === "" ? name : `${prefix}.${name}`, members);
    return;
  }
  members.set(prefix === "" ? "(the whole file)" : prefix, value);
}

function unknownVariables(variables: SettingSources["variables"]): string[] {
  const known = new Set([
    "TOLLGATE_CONFIG",
    "TOLLGATE_FIXTURES",
    ...settingList.filter((setting) => !setting.isFlagOnly).map((setting) => setting.variable),
  ]);
  return Object.keys(variables)
    .filter((name) => name.startsWith("TOLLGATE_") && !known.has(name) && !isServiceVariable(name))
    .sort()
    .map((name) => `the variable ${name} is not a setting and is ignored`);
}

/** Whether Kubernetes injects the variable for a Service whose name begins with `tollgate`. */
function isServiceVariable(name: string): boolean {
  return /_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)?)$/.test(name);
}
