/**
 * Reads how many samples AAC has a second, as its decoders read it: from the AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1) in the
 * box `esds` (14496-14, 5.6). Of HE-AAC that is the rate of the packets, while players show twice as many.
 */

/** By four bits. */
export const aacRates: readonly number[] = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];
const explicitRate = 15;
/** Of the type of object: the next six bits tell which. */
const longType = 31;

/** Descriptors on the way (14496-1, 7.2.6), and the bytes of their own before the next one. */
const outer: ReadonlyMap<number, number> = new Map([
  [3, 3],
  [4, 13],
]);
const configTag = 5;

/** @param descriptions what the box `stsd` holds @returns undefined where it does not tell */
export function aacConfigRate(descriptions: Buffer): number | undefined {
  const box = esdsAt(descriptions);
  if (box === undefined) return undefined;
  for (let at = box + 4; at < descriptions.length; ) {
    const tag = descriptions[at];
    at += 1;
    // A length ends with the first byte whose highest bit is not set.
    while (((descriptions[at] ?? 0) & 0x80) !== 0) at += 1;
    at += 1;
    if (tag === configTag) return rateOf(descriptions.subarray(at));
    const own = tag === undefined ? undefined : outer.get(tag);
    if (own === undefined) return undefined;
    at += own;
  }
  return undefined;
}

/**
 * Boxes of the first description begin behind its own fields, by its version (QuickTime File Format Specification, "Sound Sample
 * Descriptions"). QuickTime puts them into one more box, `wave`.
 */
const boxesAt: readonly number[] = [44, 60, 80];
const versionAt = 24;

/** What stands in another box is not what decoders read. @returns where the content of the box begins */
function esdsAt(descriptions: Buffer): number | undefined {
  if (descriptions.length < versionAt + 2) return undefined;
  let at = boxesAt[descriptions.readUInt16BE(versionAt)] ?? descriptions.length;
  while (at + 8 <= descriptions.length) {
    const type = descriptions.toString("latin1", at + 4, at + 8);
    if (type === "esds") return at + 8;
    at += type === "wave" ? 8 : Math.max(8, descriptions.readUInt32BE(at));
  }
  return undefined;
}

const configBytesMost = 6;

/** @param config may be short: most are two bytes */
function rateOf(config: Buffer): number | undefined {
  const padded = Buffer.alloc(configBytesMost);
  config.copy(padded);
  const type = bitsOf(padded, 0, 5);
  const placeAt = type === longType ? 11 : 5;
  const place = bitsOf(padded, placeAt, 4);
  const rate = place === explicitRate ? bitsOf(padded, placeAt + 4, 24) : aacRates[place];
  return rate === 0 ? undefined : rate;
}

/** @param first counted from the left */
function bitsOf(config: Buffer, first: number, length: number): number {
  const behind = 8 * configBytesMost - first - length;
  return Math.floor(config.readUIntBE(0, configBytesMost) / 2 ** behind) % 2 ** length;
}
