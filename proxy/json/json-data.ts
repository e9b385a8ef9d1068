/**
 * Tells base64 data from text among long string values, so that a picture of a megabyte is not estimated as three
 * hundred thousand tokens of text.
 *
 * Data is a `data:…;base64,` URL under any key but those of plain text, or the value of `data`, `file_data`,
 * `b64_json`; its head and tail must look like base64. A client that hides text there gets a low estimate and the exact
 * bill: settlement uses the upstream's own count.
 */

/** Shorter strings are text whatever they hold. */
export const dataKeyLengthMax = 256;

const dataKeys = new Set(["data", "file_data", "b64_json"]);
const textKeys = new Set(["text", "content", "input", "prompt", "system", "instructions", "arguments"]);
const longestKey = 16;
const dataUrl = /^data:[\w.+-]*\/?[\w.+-]*(?:;[\w.+-]+=[\w.+"-]*)*;base64,/i;
const base64 = /^[A-Za-z0-9+/=_\\-]*$/;
const sampleBytes = 64;
const urlHeadBytes = 160;

/**
 * @param keyFrom offset of the key's first byte; `keyTo` <= `keyFrom` when there is none (an array's element)
 * @param from offset of the value's first byte inside its quotes
 */
export function isEncodedData(bytes: Buffer, keyFrom: number, keyTo: number, from: number, to: number): boolean {
  const key = keyTo > keyFrom && keyTo - keyFrom <= longestKey ? bytes.toString("latin1", keyFrom, keyTo) : "";
  if (dataKeys.has(key) && looksLikeBase64(bytes, from, to)) return true;
  const startsAsUrl = (bytes[from] ?? 0) === 0x64 && bytes[from + 4] === 0x3a;
  if (!startsAsUrl || textKeys.has(key)) return false;
  const head = dataUrl.exec(bytes.toString("latin1", from, Math.min(to, from + urlHeadBytes)));
  return head !== null && looksLikeBase64(bytes, from + head[0].length, to);
}

function looksLikeBase64(bytes: Buffer, from: number, to: number): boolean {
  const head = bytes.toString("latin1", from, Math.min(to, from + sampleBytes));
  const tail = bytes.toString("latin1", Math.max(from, to - sampleBytes), to);
  return base64.test(head) && base64.test(tail);
}
