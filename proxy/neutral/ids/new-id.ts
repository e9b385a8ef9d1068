/** Makes fresh ids in the form that clients of the three vendors know: a prefix and 24 letters and digits. */
import { randomFillSync } from "node:crypto";

const alphabet = Buffer.from("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
const length = 24;

/** Letters and digits of many ids: asking for the random bytes of each costs more than making it. */
const drawn = Buffer.alloc(128 * length);
let used = drawn.length;

/** @param prefix for example `call_` */
export function newId(prefix: string): string {
  if (used === drawn.length) draw();
  used += length;
  return prefix + drawn.toString("latin1", used - length, used);
}

function draw(): void {
  randomFillSync(drawn);
  // The slight bias to the first letters matters to nobody: ids must be unique, not secret.
  for (const [at, byte] of drawn.entries()) drawn[at] = alphabet[byte % alphabet.length] ?? 0;
  used = 0;
}
