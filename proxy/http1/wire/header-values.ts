/**
 * Reads single header fields out of the raw list, names and values in turn, as they came over the wire.
 *
 * The raw list is the only honest view: an object of them, as Node's own, joins some duplicates and drops others, so that a
 * second `Authorization` would vanish before anybody could refuse it. Names are compared without case (RFC 9110 section 5.1);
 * `x_api_key` is another name than `x-api-key`.
 */

/** Name, value, name, value, … as they came. */
export type RawHeaders = readonly string[];

const none: readonly string[] = [];

/**
 * Whether a name as it came is this one. Length and first letter come first: lowering a name makes a string of it.
 * @param wanted in lower case, with a letter in front
 */
export function isNamed(name: string, wanted: string): boolean {
  if (name.length !== wanted.length) return false;
  return name === wanted || ((name.charCodeAt(0) | 0x20) === wanted.charCodeAt(0) && name.toLowerCase() === wanted);
}

/**
 * All values of one field, in order.
 * @param name in lower case
 */
export function headerValues(headers: RawHeaders, name: string): readonly string[] {
  let values: string[] | undefined;
  for (let index = 0; index < headers.length; index += 2) {
    if (!isNamed(headers[index] ?? "", name)) continue;
    values ??= [];
    values.push(headers[index + 1] ?? "");
  }
  return values ?? none;
}

/** Whether a field is there at all. @param name in lower case */
export function hasHeader(headers: RawHeaders, name: string): boolean {
  for (let index = 0; index < headers.length; index += 2) {
    if (isNamed(headers[index] ?? "", name)) return true;
  }
  return false;
}

/** All fields as an object, names in lower case, repeated ones joined; what is no usual name cannot touch a prototype. */
export function toHeaderObject(headers: RawHeaders): Readonly<Record<string, string>> {
  const fields: Record<string, string> = Object.create(null);
  for (let index = 0; index < headers.length; index += 2) {
    const name = (headers[index] ?? "").toLowerCase();
    const value = headers[index + 1] ?? "";
    const known = fields[name];
    fields[name] = known === undefined ? value : `${known}, ${value}`;
  }
  return fields;
}
