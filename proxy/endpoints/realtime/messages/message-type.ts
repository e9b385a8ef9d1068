/**
 * Tells what a message is by its first bytes (PURE), so that most messages pass without being parsed.
 *
 * What a client sends must be read as the upstream will read it: another `type` further back would be a message that
 * nobody checked. So a client's message is told by its bytes only where nothing can stand further back
 * (`plainAudioLength`); all others are scanned whole (`client-message.ts`). An upstream's own messages need no such care.
 */

/** As programs write an object: without spaces, and as Python's `json.dumps` does. */
const typeStarts = ['{"type":"', '{"type": "'].map((text) => Buffer.from(text));
const audioStarts = [
  '{"type":"input_audio_buffer.append","audio":"',
  '{"type": "input_audio_buffer.append", "audio": "',
].map((text) => Buffer.from(text));
/** No type of the protocol is longer. */
const typeLengthMax = 100;
const quote = 0x22;
const backslash = 0x5c;
const closingBrace = 0x7d;

/** @returns undefined where the message does not begin with its type: it must be parsed */
export function typeAtStart(message: Buffer): string | undefined {
  for (const start of typeStarts) {
    if (!startsWith(message, start)) continue;
    const end = message.indexOf(quote, start.length);
    if (end < 0 || end - start.length > typeLengthMax) return undefined;
    const type = message.toString("latin1", start.length, end);
    return type.includes("\\") ? undefined : type;
  }
  return undefined;
}

/**
 * Recognises `input_audio_buffer.append` with nothing in it but a text without escapes: nine of ten messages of a client.
 * @returns the length of its base64 text; undefined for every other message
 */
export function plainAudioLength(message: Buffer): number | undefined {
  const { length } = message;
  if (message[length - 1] !== closingBrace || message[length - 2] !== quote) return undefined;
  for (const start of audioStarts) {
    if (length < start.length + 2 || !startsWith(message, start)) continue;
    const isPlain = message.indexOf(quote, start.length) === length - 2 && !message.includes(backslash, start.length);
    return isPlain ? length - 2 - start.length : undefined;
  }
  return undefined;
}

function startsWith(message: Buffer, start: Buffer): boolean {
  return message.length >= start.length && message.compare(start, 0, start.length, 0, start.length) === 0;
}
