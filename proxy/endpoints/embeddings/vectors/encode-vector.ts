/**
 * Brings a vector to the encoding that the client asked for: numbers to the base64 of 32-bit floats, or back
 * (https://platform.openai.com/docs/api-reference/embeddings).
 */
import { InvalidReply } from "#proxy/neutral/reply";

const bytesPerFloat = 4;

/**
 * @param json a list of numbers
 * @returns the base64 as JSON, quotes included
 * @throws InvalidReply, SyntaxError for what is no list of numbers
 */
export function encodeNumbers(json: string): string {
  const numbers: unknown = JSON.parse(json);
  if (!Array.isArray(numbers)) throw new InvalidReply("a vector is no list of numbers");
  const bytes = Buffer.allocUnsafe(numbers.length * bytesPerFloat);
  let at = 0;
  for (const number of numbers) {
    if (typeof number !== "number" || !Number.isFinite(Math.fround(number))) {
      throw new InvalidReply("a vector holds what is no 32-bit float");
    }
    at = bytes.writeFloatLE(number, at);
  }
  return `"${bytes.toString("base64")}"`;
}

/**
 * @param base64 without quotes
 * @returns a list of numbers as JSON
 * @throws InvalidReply for what is no base64 of finite 32-bit floats
 */
export function decodeNumbers(base64: string): string {
  const bytes = Buffer.from(base64, "base64");
  // Characters of another alphabet are passed over, so that the length tells whether there were any.
  const isWhole = bytes.length === Math.floor(((base64.length - paddingOf(base64)) * 3) / 4);
  if (!isWhole || bytes.length === 0 || bytes.length % bytesPerFloat !== 0) {
    throw new InvalidReply("a vector is no base64 of 32-bit floats");
  }
  const numbers = new Array<number>(bytes.length / bytesPerFloat);
  for (let index = 0; index < numbers.length; index += 1) {
    const number = bytes.readFloatLE(index * bytesPerFloat);
    if (!Number.isFinite(number)) throw new InvalidReply("a vector holds what is no finite number");
    numbers[index] = number;
  }
  return JSON.stringify(numbers);
}

/**
 * Whether base64 has the length of 32-bit floats: all that is looked at where it passes, since to decode megabytes would cost
 * more than all else.
 * @param length of the text without quotes
 * @param padding of that
 */
export function isLengthOfFloats(length: number, padding: number): boolean {
  const bytes = Math.floor(((length - padding) * 3) / 4);
  return bytes > 0 && bytes % bytesPerFloat === 0;
}

function paddingOf(base64: string): number {
  if (base64.endsWith("==")) return 2;
  return base64.endsWith("=") ? 1 : 0;
}
