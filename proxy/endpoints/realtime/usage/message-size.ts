/** Measures what one message of a client gives a model to read (PURE). */
import type { ClientMessage } from "#proxy/endpoints/realtime/messages/client-message";
import { asList, asObject, asText, member, memberAt, parseJson } from "#proxy/json/json-value";

export interface MessageSize {
  readonly textBytes: number;
  /** Base64 text. */
  readonly audioLength: number;
  readonly images: number;
}

export const nothingAdded: MessageSize = { textBytes: 0, audioLength: 0, images: 0 };

/** An item (`conversation.item.create`), or the input of a response of its own (`response.create`). */
export function sizeOf({ body }: ClientMessage): MessageSize {
  const message = parseJson(body.bytes.toString("utf8", body.start, body.end));
  const items = [member(message, "item"), ...asList(memberAt(message, "response", "input"))];
  const parts = items.flatMap((item) => asList(member(item, "content")));
  const images = parts.filter((part) => member(part, "type") === "input_image");
  const lengthOf = (name: string, those: readonly unknown[]): number =>
    those.reduce<number>((length, part) => length + asText(member(part, name)).length, 0);
  const audioLength = lengthOf("audio", parts);
  const text = body.stringBytes + body.keyBytes - audioLength - lengthOf("image_url", images);
  return { textBytes: Math.max(0, text), audioLength, images: images.length };
}

/** Bytes of each member of a session's description: instructions, tools and the like are read with every response. */
export function sessionSizes({ body }: ClientMessage): ReadonlyMap<string, number> {
  const session = member(parseJson(body.bytes.toString("utf8", body.start, body.end)), "session");
  return new Map(Object.entries(asObject(session) ?? {}).map(([name, value]) => [name, sizeOfValue(value)]));
}

function sizeOfValue(value: unknown): number {
  if (value === null || value === undefined) return 0;
  return Buffer.byteLength(typeof value === "string" ? value : JSON.stringify(value));
}
