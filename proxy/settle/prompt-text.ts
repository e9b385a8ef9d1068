/** The text of a prompt, for a tokenizer: every string value of the body that is text and not encoded data (PURE). */

/** More text than this is counted by its length: a tokenizer would take longer than the number is worth. */
const textLengthMax = 2 * 1024 * 1024;
/** Longer strings without a space are base64 or URLs of data, and cost tokens by another rule. */
const dataLengthLeast = 512;

/** @param body a request body that has passed the strict scan */
export function promptText(body: Buffer): string {
  const pieces: string[] = [];
  let length = 0;
  const open: unknown[] = [JSON.parse(body.toString("utf8"))];
  while (open.length > 0 && length < textLengthMax) {
    const value = open.pop();
    if (typeof value === "string") {
      if (value.length >= dataLengthLeast && !value.includes(" ")) continue;
      pieces.push(value);
      length += value.length;
    } else if (typeof value === "object" && value !== null) {
      const members = Object.values(value);
      // One by one: a list of some hundred thousand members is more than one call takes as arguments.
      for (let index = members.length - 1; index >= 0; index -= 1) open.push(members[index]);
    }
  }
  return pieces.join("\n");
}
