/** Exchanges within one format between streaming and not streaming, without a gateway: what a client gets, and what comes back of it. */

import { upstreamFormats } from "#proxy/formats/registry";
import type { JsonObject } from "#proxy/json/json-value";
import { defaultLimits } from "#proxy/limits";
import { InvalidReply } from "#proxy/neutral/reply";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { SameFormatBridge } from "#proxy/translate/same-format-bridge";
import { ChatReader } from "#proxy/upstream/reply/chat-reader";
import { readCollectedStream } from "#proxy/upstream/reply/collected-reply";
import { callOf } from "#test/support/digest/stream-call";

const eventBytesMax = 1 << 24;

export function bridgeOf(format: ChatWireFormat, changes: object = {}): SameFormatBridge {
  let ids = 0;
  const call = callOf(upstreamFormats[format], changes);
  return new SameFormatBridge({ call, newId: (prefix) => `${prefix}${++ids}` });
}

/** Replays a whole reply as a stream. */
export function replayed(format: ChatWireFormat, reply: object, changes: object = {}): Buffer {
  return Buffer.concat(bridgeOf(format, changes).streamOfReply(Buffer.from(JSON.stringify(reply))));
}

export interface Aggregated {
  readonly reply: JsonObject;
  readonly lost: readonly string[];
}

/** The events of a stream that pass its format's filter. @throws InvalidReply when it is not whole */
export function passed(format: ChatWireFormat, stream: Buffer | string): Buffer {
  const call = callOf(upstreamFormats[format]);
  const exchange = { format: upstreamFormats[format], call, translation: undefined, bridge: () => bridgeOf(format) };
  const reader = new ChatReader(exchange, { ...defaultLimits, eventBytesMax });
  const { filter, events } = readCollectedStream(Buffer.from(stream), reader);
  if (filter.error !== undefined || filter.violation !== undefined || !filter.isComplete) {
    throw new InvalidReply(filter.violation ?? "the stream is not whole");
  }
  return events;
}

/** Aggregates a stream into a whole reply, as an attempt does. @throws InvalidReply when it is not whole */
export function aggregated(format: ChatWireFormat, stream: Buffer | string): Aggregated {
  const { body, lost } = bridgeOf(format).translateReply(passed(format, stream));
  return { reply: JSON.parse(body.toString("utf8")), lost };
}

/** The data of a stream's events. */
export function dataOf(stream: Buffer): readonly JsonObject[] {
  return stream
    .toString("utf8")
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)));
}
