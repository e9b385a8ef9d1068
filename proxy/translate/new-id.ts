/** Fresh ids in the form that clients of the three vendors know: a prefix and 24 letters and digits. */
import { randomBytes } from "node:crypto";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const length = 24;

/** @param prefix for example `call_` */
export function newId(prefix: string): string {
  let id = prefix;
  // The slight bias to the first letters matters to nobody: ids must be unique, not secret.
  for (const byte of randomBytes(length)) id += alphabet[byte % alphabet.length];
  return id;
}
