/** Fresh ids in the form that clients of the three vendors know: a prefix and 24 letters and digits. */
import { randomFillSync } from "node:crypto";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const length = 24;

/** Drawn for many ids at once: asking for each costs more than making it. */
const drawn = Buffer.alloc(128 * length);
let used = drawn.length;

/** @param prefix for example `call_` */
export function newId(prefix: string): string {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  let id = prefix;
  // The slight bias to the first letters matters to nobody: ids must be unique, not secret.
  for (const end = used + length; used < end; used += 1) id += alphabet[(drawn[used] ?? 0) % alphabet.length];
  return id;
}
