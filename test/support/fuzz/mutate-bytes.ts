/** Bytes damaged without regard to what they mean, as lines, programs and people do it. */
import type { Random } from "./random.ts";

const tokens = [
  "{",
  "}",
  "[",
  "]",
  '"',
  ",",
  ":",
  "\\",
  "\\u",
  "\n\n",
  "\r\n",
  "data:",
  "event: ",
  "null",
  "\u0000",
  "\ufeff",
  "[DONE]",
  "1e9",
  "-",
];

type Damage = (bytes: Buffer, random: Random) => Buffer;

const damages: readonly Damage[] = [
  function flip(bytes, random) {
    const copy = Buffer.from(bytes);
    const at = random.below(copy.length);
    copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
    return copy;
  },
  function cutEnd(bytes, random) {
    return bytes.subarray(0, random.below(bytes.length));
  },
  function cutOut(bytes, random) {
    const start = random.below(bytes.length);
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + random.size(8))]);
  },
  function double(bytes, random) {
    const start = random.below(bytes.length);
    const end = start + random.size(10);
    return Buffer.concat([bytes.subarray(0, end), bytes.subarray(start)]);
  },
  function insert(bytes, random) {
    const at = random.below(bytes.length + 1);
    const added = random.chance(0.7)
      ? Buffer.from(random.pick(tokens))
      : Buffer.from(Array.from({ length: random.size(4) }, () => random.below(256)));
    return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at)]);
  },
];

/** One to four damages. */
export function damageBytes(bytes: Buffer, random: Random): Buffer {
  let damaged = bytes;
  for (let times = 1 + random.below(4); times > 0 && damaged.length > 0; times -= 1) {
    damaged = random.pick(damages)(damaged, random);
  }
  return damaged;
}
