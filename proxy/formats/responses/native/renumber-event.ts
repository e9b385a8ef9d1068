/** Rewrites events of an upstream's responses stream that follow events of the gateway's own. */
import { encodeEvent } from "#proxy/sse/encoder";

const numberMember = /"sequence_number"(\s*:\s*)(\d+)/g;
const stringsAndBrackets = /"(?:[^"\\]|\\.)*"|[[\]{}]/g;

/**
 * Raises the event's number. Edited as text, since a number of many digits would not survive being read and written; within
 * a string no quote stands without a backslash before it.
 *
 * @param data JSON of the event, on one line
 */
export function renumberEvent(type: string, data: string, added: number): Buffer {
  return encodeEvent(type, raiseNumber(data, added));
}

/** Data of several lines as what it means: a line end in JSON is white space. */
export function onOneLine(data: string): string {
  return data.includes("\n") ? data.replaceAll("\n", " ") : data;
}

/** A response may show a tool or a text of JSON with a member of this name: the event's own lies in no other object. */
function raiseNumber(data: string, added: number): string {
  const members = [...data.matchAll(numberMember)];
  const own = members.length > 1 ? members.find(({ index }) => depthAt(data, index) === 1) : members[0];
  if (own === undefined) return data;
  const [whole, colon, number] = own;
  const rest = data.slice(own.index + whole.length);
  return `${data.slice(0, own.index)}"sequence_number"${colon}${Number(number) + added}${rest}`;
}

/** How many objects and lists are open before this place. */
function depthAt(data: string, end: number): number {
  let depth = 0;
  for (const [token] of data.slice(0, end).matchAll(stringsAndBrackets)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
  }
  return depth;
}
