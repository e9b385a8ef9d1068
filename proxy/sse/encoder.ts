/** Writes the gateway's own server-sent events: one JSON text each, so that no value can break out of its line. */

/**
 * Encodes one event.
 *
 * @param name the `event:` line; undefined for formats that have none (chat completions, generateContent)
 * @param data JSON text or a marker such as `[DONE]`, without line ends
 */
export function encodeEvent(name: string | undefined, data: string): Buffer {
  return Buffer.from(name === undefined ? `data: ${data}\n\n` : `event: ${name}\ndata: ${data}\n\n`);
}
