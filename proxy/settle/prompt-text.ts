/**
 * Extracts the text of a prompt for a tokenizer: every string value of the body that is text and not encoded data
 * (PURE).
 */
import { dataKeyLengthMax, isEncodedData } from "#proxy/json/json-data";

/** More text than this is counted by its length: a tokenizer would take longer than the number is worth. */
const textLengthMax = 2 * 1024 * 1024;

/** The head and tail that tell data from text: `isEncodedData` reads no more of a value. */
const sampleHeadLength = 256;
const sampleTailLength = 64;

/** Signatures and sealed thoughts go back as they came, in base64 that no model reads as text. */
const sealedKeys = new Set(["signature", "thoughtSignature", "thought_signature", "encrypted_content"]);

export interface Prompt {
  /** What a tokenizer shall count. */
  readonly text: string;
  /** UTF-8 length of the text behind it, which is too much for one. */
  readonly bytesBeyond: number;
}

/** All text of a prompt. @param body a request body that has passed the strict scan */
export function readPrompt(body: Buffer): Prompt {
  const pieces: string[] = [];
  let room = textLengthMax;
  let bytesBeyond = 0;
  for (const value of textsOf(body)) {
    if (room > 0) pieces.push(value.slice(0, room));
    if (value.length > room) bytesBeyond += Buffer.byteLength(value.slice(room));
    room = Math.max(0, room - value.length);
  }
  return { text: pieces.join("\n"), bytesBeyond };
}

interface Holder {
  /** Empty for an element of a list. */
  readonly key: string;
  readonly value: string | object;
}

/** Every text, in the order of the body. */
function* textsOf(body: Buffer): Generator<string> {
  const open: Holder[] = [];
  const add = (key: string, value: unknown): void => {
    if (typeof value === "string" || (typeof value === "object" && value !== null)) open.push({ key, value });
  };
  add("", JSON.parse(body.toString("utf8")));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { key, value } = next;
    if (typeof value === "string") {
      if (!isData(key, value)) yield value;
    } else if (Array.isArray(value)) {
      // One by one: a list of some hundred thousand members is more than one call takes as arguments.
      for (let index = value.length - 1; index >= 0; index -= 1) add("", value[index]);
    } else {
      for (const [name, inner] of Object.entries(value).reverse()) add(name, inner);
    }
  }
}

function isData(key: string, value: string): boolean {
  if (value.length < dataKeyLengthMax) return false;
  const name = Buffer.from(sealedKeys.has(key) ? "data" : key);
  const isShort = value.length <= sampleHeadLength + sampleTailLength;
  const sample = isShort ? value : value.slice(0, sampleHeadLength) + value.slice(-sampleTailLength);
  const bytes = Buffer.concat([name, Buffer.from(sample)]);
  return isEncodedData(bytes, 0, name.length, name.length, bytes.length);
}
