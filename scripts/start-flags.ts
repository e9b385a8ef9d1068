/**
 * What `npm start` gives `tollgate standalone` where the user gave nothing: a flag of its own would go before variables
 * and before the settings file (docs/design/operations.md 4), so each is left out where the user's setting stands in
 * one of them.
 */
import { parse } from "yaml";
import { kebabCase, variableOf } from "#cli/settings/setting-list";

export interface StartSources {
  /** Behind `npm start --`. */
  readonly given: readonly string[];
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly readFile: (path: string) => string;
  /** Whether nobody listens on this port of this machine. */
  readonly isFree: (port: number) => Promise<boolean>;
}

export interface StartFlags {
  readonly flags: readonly string[];
  readonly dataFolder: string;
  /** A line for each port that is not the usual one, and why. */
  readonly moved: readonly string[];
}

/** Settings with an address, and the port they usually have. */
const usualPorts = { listen: 8080, admin: 9090, operatorAdmin: 9091 } as const;

/** @param defaults values by name of the setting, apart from those with a port */
export async function startFlags(
  defaults: Readonly<Record<string, string>> & { readonly data: string },
  sources: StartSources,
): Promise<StartFlags> {
  const settingsFile = readSettingsFile(sources);
  const givenValue = (name: string): unknown =>
    flagOf(name, sources.given) ?? sources.variables[variableOf(name)] ?? memberOf(settingsFile, name);
  const moved: string[] = [];
  const values = Object.entries(defaults);
  for (const [name, port] of Object.entries(usualPorts)) {
    const isUsual = givenValue(name) !== undefined || (await sources.isFree(port));
    if (!isUsual)
      moved.push(
        `Port ${port} is taken by another program, so --${kebabCase(name)} moves to a free one; choose it with --${kebabCase(name)} HOST:PORT or ${variableOf(name)}.`,
      );
    values.push([name, `127.0.0.1:${isUsual ? port : 0}`]);
  }
  const own = values.filter(([name]) => givenValue(name) === undefined);
  return {
    flags: [...own.map(([name, value]) => `--${kebabCase(name)}=${value}`), ...sources.given],
    dataFolder: String(givenValue("data") ?? defaults.data),
    moved,
  };
}

/** The value of a flag, in either spelling. */
function flagOf(name: string, given: readonly string[]): string | undefined {
  const flag = `--${kebabCase(name)}`;
  const index = given.findIndex((argument) => argument === flag || argument.startsWith(`${flag}=`));
  const argument = given[index];
  return argument === undefined ? undefined : argument === flag ? given[index + 1] : argument.slice(flag.length + 1);
}

function readSettingsFile({ given, variables, readFile }: StartSources): unknown {
  const path = flagOf("config", given) ?? variables["TOLLGATE_CONFIG"];
  if (path === undefined || path === "") return undefined;
  try {
    return parse(readFile(path));
  } catch {
    // The gateway reads it as well, and says what is wrong with it.
    return undefined;
  }
}

function memberOf(file: unknown, name: string): unknown {
  let at = file;
  for (const member of name.split("."))
    at = typeof at === "object" && at !== null ? Reflect.get(at, member) : undefined;
  return at;
}
