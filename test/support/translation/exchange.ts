/** What the tests of every translator need around a call or a reply: readable state, counted ids, whole streams. */

import type { StreamReader, StreamWriter } from "#proxy/formats/translator";
import type { ProviderState } from "#proxy/neutral/conversation";
import type { ReplyEvent } from "#proxy/neutral/reply";
import { envelopeMark } from "#proxy/neutral/state/envelope";
import type { StateKeeper } from "#proxy/neutral/state/keeper";
import { readEventFields, splitEvents } from "#proxy/sse/event-fields";

/** Seals by spelling out, and opens everything: what is sealed can be read in a test. */
export class OpenStates implements StateKeeper {
  readonly remembered = new Map<string, readonly ProviderState[]>();
  readonly #recoversNative: boolean;

  /** `native`: whether state that a client carries in its protocol's own form is recovered, or only sealed state. */
  constructor(options: { readonly native: boolean } = { native: false }) {
    this.#recoversNative = options.native;
  }

  seal(states: readonly ProviderState[]): string {
    return `${envelopeMark}${Buffer.from(JSON.stringify(states)).toString("base64url")}`;
  }

  remember(callId: string, states: readonly ProviderState[]): void {
    this.remembered.set(callId, [...states]);
  }

  recover(part: Parameters<StateKeeper["recover"]>[0]): readonly ProviderState[] {
    const carried = (part.states ?? []).flatMap((state) => {
      if (state.type === "sealed") return open(state.envelope);
      return this.#recoversNative ? [state.state] : [];
    });
    return carried.length > 0 || part.kind !== "call" ? carried : (this.remembered.get(part.id) ?? []);
  }
}

function open(envelope: string): readonly ProviderState[] {
  return JSON.parse(Buffer.from(envelope.slice(envelopeMark.length), "base64url").toString("utf8"));
}

/** Ids that count up from 1 behind their prefix. */
export function countedIds(): (prefix: string) => string {
  let ids = 0;
  return (prefix) => {
    ids += 1;
    return `${prefix}${ids}`;
  };
}

/** All events of a stream's bytes, as the reader sees them behind its filter; its end included. */
export function readWith(reader: StreamReader, bytes: Buffer): ReplyEvent[] {
  const events = splitEvents(bytes).flatMap((event) => {
    const { name, data } = readEventFields(event);
    return data === undefined ? [] : reader.read({ name, data });
  });
  return [...events, ...reader.end()];
}

/** The client's stream of neutral events. */
export function writeWith(writer: StreamWriter, events: Iterable<ReplyEvent>): string {
  let text = "";
  for (const event of events) text += writer.write(event);
  return text;
}
