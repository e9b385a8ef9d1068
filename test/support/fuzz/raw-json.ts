/**
 * JSON text that no JavaScript value has: members that stand twice, numbers beyond every double, halves of characters,
 * thousands of levels, a member that is called `__proto__`. Values carry them as marked strings and names.
 */

const mark = "\u0001raw:";
const markedValue = /"\\u0001raw:([0-9a-f]*)"/g;

/** A value that is written as this text. */
export function rawValue(text: string): string {
  return `${mark}${Buffer.from(text, "utf8").toString("hex")}`;
}

/** A name that is written as this text in quotes, also where the object has a member of that name. */
export function rawName(name: string): string {
  return rawValue(JSON.stringify(name));
}

/** The text of a value with its marks resolved. */
export function writeRawJson(value: unknown): string {
  return (JSON.stringify(value) ?? "null").replace(markedValue, (_whole, hex: string) =>
    Buffer.from(hex, "hex").toString("utf8"),
  );
}
