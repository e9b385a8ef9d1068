/** Escapes text for a terminal: characters that forge lines, move the cursor or reorder letters become visible. */

/** Control characters of both sets, separators of lines, and marks of direction. */
const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export function oneLine(text: string): string {
  return text.replace(unprintable, (character) => {
    const escaped = JSON.stringify(character).slice(1, -1);
    return escaped === character ? "?" : escaped;
  });
}
