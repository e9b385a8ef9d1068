/**
 * Measures what one message of a client gives a model to read (PURE): from its scan, since a message may be as large as a body
 * and parsing it would hold up every other session.
 */
import { type ClientMessage, nestedObject } from "#proxy/endpoints/realtime/messages/client-message";
import type { Hit } from "#proxy/json/strict-json";

export interface MessageSize {
  readonly textBytes: number;
  /** Base64 text. */
  readonly audioLength: number;
  readonly images: number;
}

export const nothingAdded: MessageSize = { textBytes: 0, audioLength: 0, images: 0 };

/**
 * An item (`conversation.item.create`), or the input of a response of its own (`response.create`). Texts count as they are
 * spelled; a member that stands twice in a part counts twice, since an upstream may read either.
 */
export function sizeOf({ body }: ClientMessage): MessageSize {
  let audioLength = 0;
  let imageLength = 0;
  let images = 0;
  for (const hit of body.hits) {
    if (!isOfPart(hit)) continue;
    if (hit.key === "audio") audioLength += textLength(hit);
    else {
      images += 1;
      imageLength += textLength(hit);
    }
  }
  return { textBytes: body.stringBytes + body.keyBytes - audioLength - imageLength, audioLength, images };
}

/** `item.content[0].audio`, or `response.input[0].content[0].audio`. */
function isOfPart({ path }: Hit): boolean {
  const inItem = path[0] === "item" ? 1 : path[0] === "response" && path[1] === "input" ? 3 : 0;
  return inItem > 0 && path.length === inItem + 3 && path[inItem] === "content" && typeof path[inItem + 1] === "number";
}

function textLength({ kind, valueStart, valueEnd }: Pick<Hit, "kind" | "valueStart" | "valueEnd">): number {
  return kind === "string" ? valueEnd - valueStart - 2 : 0;
}

/** Bytes of each member of a session's description: instructions, tools and the like are read with every response. */
export function sessionSizes(message: ClientMessage): ReadonlyMap<string, number> {
  const members = nestedObject(message, "session")?.members ?? [];
  return new Map(members.map((member) => [member.name, sizeOfValue(member)]));
}

function sizeOfValue(value: Pick<Hit, "kind" | "valueStart" | "valueEnd">): number {
  if (value.kind === "string") return textLength(value);
  return value.kind === "null" ? 0 : value.valueEnd - value.valueStart;
}
