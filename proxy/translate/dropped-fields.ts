/** Reports dropped fields: to the client in a header, to operators in a counter with a closed label set. */

import { neutralFields } from "#proxy/neutral/losses/neutral-fields";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import type { WireFormat } from "#proxy/snapshot/types.gen";
import { clientTranslators } from "./translators.ts";

/** Longer lists help nobody and may hold whatever names a client invented. */
const headerCharactersMax = 1_000;

/** Value of `x-tollgate-dropped`; undefined when nothing was. */
export function droppedHeader(fields: readonly string[]): string | undefined {
  if (fields.length === 0) return undefined;
  // What concerns the whole call comes first: of items there may be thousands.
  const names = fields
    .map((field) => field.replace(/[^\w.[\]-]/g, "?"))
    .sort((one, other) => steps(one) - steps(other));
  let text = "";
  for (const [index, name] of names.entries()) {
    const next = text === "" ? name : `${text}, ${name}`;
    if (next.length > headerCharactersMax) return `${text}, and ${names.length - index} more`;
    text = next;
  }
  return text;
}

function steps(field: string): number {
  return field.slice(0, headerCharactersMax).split(/[.[]/).length;
}

/** Of fields for which a format has several. */
const secondSpellings: Readonly<Partial<Record<ChatWireFormat, readonly string[]>>> = {
  ChatCompletions: ["max_tokens", "function_call", "prompt_cache_breakpoint"],
};

const known = new Map<ChatWireFormat, ReadonlySet<string>>();

function isChatFormat(format: WireFormat): format is ChatWireFormat {
  return Object.hasOwn(clientTranslators, format);
}

/** The field as a metric label: one of a chat format's own parameters, else `other`. */
export function droppedLabel(format: WireFormat, field: string): string {
  if (!isChatFormat(format)) return "other";
  let names = known.get(format);
  if (names === undefined) {
    const usual = neutralFields.map((neutral) => clientTranslators[format].fieldNames[neutral]);
    names = new Set([...usual, ...(secondSpellings[format] ?? [])]);
    known.set(format, names);
  }
  return names.has(field) ? field : "other";
}
