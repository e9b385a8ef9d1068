/**
 * Parses the text of a flag, a variable or a file member into the value of a setting, or into a message about the
 * problem.
 */
import { isIP } from "node:net";
import { isCidr } from "#proxy/http/address/cidr";
import type { Setting, SettingValue } from "./setting-list.ts";

/** Patterns of settings in words; the others show their form by their placeholder. */
const patternForms: ReadonlyMap<string, string> = new Map([
  [
    "^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$",
    "must be at most 63 letters, digits, '.', '_' and '-', beginning with a letter or digit, such as proxy-1",
  ],
  [
    "^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$",
    "must be a DNS name: lower-case letters, digits, '-' and '.', with a letter or digit at both ends, such as tollgate-push",
  ],
  [
    "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$",
    "must be at most 63 lower-case letters, digits and '-', with a letter or digit at both ends, such as team-a",
  ],
  ["^[A-Za-z0-9._:/-]{1,253}$", "must be letters, digits, '.', '_', ':', '/' and '-', such as tollgate-push"],
  ["^[0-9A-Fa-f:.]+$", "must be an IP address such as 10.1.2.3"],
  [
    "^rediss?:\\/\\/([^:@/ ]+@)?([^:@/ \\[\\]]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?(\\/[0-9]{1,4})?$",
    "must be an address without a password, such as redis://10.1.2.3:6379 (the password belongs in a file)",
  ],
  [
    "^\\{[A-Za-z0-9._-]{1,63}\\}$",
    "must be at most 63 letters, digits, '.', '_' and '-' in braces, such as {tollgate}",
  ],
]);

/** The text is not a value of this setting; `message` says which form it must have. */
export class InvalidValue extends Error {}

/**
 * Reads one value. Durations become milliseconds, sizes bytes; all else keeps its kind.
 *
 * @param given text (flags, variables), or what YAML made of a file member
 * @throws InvalidValue
 */
export function parseValue(setting: Setting, given: unknown): SettingValue {
  switch (setting.type) {
    case "boolean":
      return parseBoolean(given);
    case "integer":
      return parseInteger(setting, given);
    case "list":
      return parseList(setting, given);
    case "string":
      return parseText(setting, given);
  }
}

function parseBoolean(given: unknown): boolean {
  if (given === true || given === "true") return true;
  if (given === false || given === "false") return false;
  throw new InvalidValue("must be true or false");
}

function parseInteger(setting: Setting, given: unknown): number {
  const value = typeof given === "string" && /^[0-9]{1,15}$/.test(given) ? Number(given) : given;
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = setting;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < minimum || value > maximum) {
    throw new InvalidValue(`must be a whole number from ${minimum} to ${maximum}`);
  }
  return value;
}

/** @param ms a duration. The bounds of one are in milliseconds too. @throws InvalidValue */
function withinBounds({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Setting, ms: number): number {
  if (ms < minimum) throw new InvalidValue(`must be at least ${minimum}ms`);
  if (ms > maximum) throw new InvalidValue(`must be at most ${maximum}ms`);
  return ms;
}

function parseList(setting: Setting, given: unknown): readonly string[] {
  const items = typeof given === "string" ? given.split(",").map((item) => item.trim()) : given;
  if (!Array.isArray(items)) throw new InvalidValue("must be a list");
  const kept = items.filter((item) => item !== "");
  const { itemsMax = Number.MAX_SAFE_INTEGER } = setting;
  if (kept.length > itemsMax) throw new InvalidValue(`may have at most ${itemsMax} items, and has ${kept.length}`);
  return kept.map((item) => {
    if (typeof item !== "string") throw new InvalidValue("must be a list of strings");
    if (setting.format === "cidr" && !isCidr(item))
      throw new InvalidValue(`"${item}" is not an address range such as 10.0.0.0/8`);
    if (setting.pattern?.test(item) === false) {
      throw new InvalidValue(`"${item}" ${formOf(setting, setting.pattern)}`);
    }
    return item;
  });
}

/** The form of a text in words. */
function formOf({ placeholder }: Setting, { source }: RegExp): string {
  return patternForms.get(source) ?? `must have the form ${placeholder.replace(",...", "")}`;
}

function parseText(setting: Setting, given: unknown): SettingValue {
  if (typeof given !== "string" || given === "") throw new InvalidValue("must be a string that is not empty");
  if (setting.choices !== undefined && !setting.choices.includes(given)) {
    throw new InvalidValue(`must be one of ${setting.choices.join(", ")}`);
  }
  if (setting.pattern !== undefined && !setting.pattern.test(given)) {
    throw new InvalidValue(formOf(setting, setting.pattern));
  }
  switch (setting.format) {
    case "duration":
      return withinBounds(setting, parseDurationMs(given));
    case "size":
      return parseSizeBytes(given);
    case "address":
      parseAddress(given);
      return given;
    case "ip":
      if (isIP(given) === 0) throw new InvalidValue(`must be an IP address such as 10.1.2.3, not "${given}"`);
      return given;
    case "operator-address":
      if (!/^(unix:.+|https:\/\/[^/?#@]+)$/.test(given)) {
        throw new InvalidValue("must be unix:PATH, the socket of the operator, or https://HOST:PORT");
      }
      return given;
    default:
      return given;
  }
}

const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** `1m30s` -> 90,000. @throws InvalidValue */
export function parseDurationMs(text: string): number {
  if (!/^([0-9]{1,7}(ms|s|m|h))+$/.test(text))
    throw new InvalidValue(`must be a duration such as 500ms, 10s, 1m30s or 2h, not "${text}"`);
  let totalMs = 0;
  for (const [, count, unit] of text.matchAll(/([0-9]+)(ms|s|m|h)/g)) {
    if (unit === "ms" || unit === "s" || unit === "m" || unit === "h") totalMs += Number(count) * unitsMs[unit];
  }
  // Timers of Node overflow above 2^31 - 1 ms and would fire at once.
  if (totalMs > 2_147_483_647) throw new InvalidValue("must be at most 24 days");
  return totalMs;
}

/** `32MiB` -> bytes; a bare number is bytes. @throws InvalidValue */
export function parseSizeBytes(text: string): number {
  const match = /^([0-9]{1,10})(B|KiB|MiB|GiB)?$/.exec(text);
  if (match === null) throw new InvalidValue("must be a size such as 16KiB, 32MiB or 1GiB");
  const factor = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }[match[2] ?? "B"] ?? 1;
  const bytes = Number(match[1]) * factor;
  if (bytes < 1 || bytes > 1024 ** 4) throw new InvalidValue("must be from 1 byte to 1024GiB");
  return bytes;
}

/** `127.0.0.1:8080`, `[::1]:8080`, `:8080` (all addresses). @throws InvalidValue */
export function parseAddress(text: string): { readonly host: string; readonly port: number } {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]*)):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535)
    throw new InvalidValue("must be HOST:PORT, for example 127.0.0.1:8080 or [::1]:8080");
  const host = match[1] ?? match[2] ?? "";
  return { host: host === "" ? "::" : host, port };
}
