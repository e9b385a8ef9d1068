/**
 * Finds the tool call that a piece of a stream belongs to, by the habits of all vendors
 * (docs/design/chat-completions.md 9).
 */
import { isObject } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";

/** A client's SDK takes no more (docs/design/chat-completions.md 7). */
export const toolCallsMax = 128;

/** A call as its pieces have told it so far; empty is what did not come yet. */
export interface KnownCall {
  readonly index: unknown;
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/**
 * By index; without one by id, else the last call.
 *
 * @param isWhole whether the arguments of a call are a whole JSON value, or nothing may follow them any more
 * @returns undefined when the piece begins another call
 */
export function callOfPiece<Call extends KnownCall>(
  calls: readonly Call[],
  piece: KnownCall,
  isWhole: (call: Call) => boolean,
): Call | undefined {
  const { index, id } = piece;
  const known =
    typeof index === "number" || typeof index === "string"
      ? calls.findLast((call) => call.index === index)
      : id === ""
        ? calls.at(-1)
        : calls.findLast((call) => call.id === id);
  return known === undefined || beginsAnother(known, piece, isWhole(known)) ? undefined : known;
}

/**
 * Another id at the index of a call that is whole is another call: some vendors count nothing. Without ids, a name behind
 * a whole call begins another, and without indexes as well any other name.
 */
function beginsAnother(known: KnownCall, { id, name, text }: KnownCall, isWhole: boolean): boolean {
  if (id !== "" && known.id !== "") return id !== known.id && (isWhole || (known.text === "" && name !== ""));
  if (name === "" || known.name === "") return false;
  return isWhole ? text.trim() !== "" : known.index === undefined && known.text === "" && name !== known.name;
}

/** JSON in a text; some vendors send the object itself. @throws InvalidReply when it is too deep to be written */
export function argumentsText(value: unknown): string {
  if (typeof value === "string") return value;
  if (!isObject(value) && !Array.isArray(value)) return "";
  try {
    return JSON.stringify(value);
  } catch {
    throw new InvalidReply("the arguments of a tool call are nested too deeply");
  }
}
