/** Tells how long a packet of Opus is by its first bytes (RFC 6716, 3.1). */

/** 120 ms: a packet that says more is none. */
export const opusSecondsMost = 0.12;
/** Of the CELT modes, 2.5 ms and its doubles; of SILK alone 10, 20, 40 and 60 ms; of both together 10 and 20 ms. */
const celt: readonly number[] = [0.0025, 0.005, 0.01, 0.02];
const silk: readonly number[] = [0.01, 0.02, 0.04, 0.06];

/** @returns 0 where the packet has no bytes that are at hand */
export function opusSeconds(bytes: Buffer, at: number): number {
  const head = bytes[at];
  if (head === undefined) return 0;
  const mode = head >> 3;
  const each = mode >= 16 ? celt[mode & 3] : mode >= 12 ? silk[mode & 1] : silk[mode & 3];
  const code = head & 3;
  const frames = code === 0 ? 1 : code < 3 ? 2 : (bytes[at + 1] ?? 0) & 63;
  return Math.min((each ?? 0) * frames, opusSecondsMost);
}
