/** Runs text through a stream filter in tests. */
import type { StreamFilter } from "#proxy/formats/format";

/** @returns the text that passed, chunk by chunk, with what `end` added */
export function runFilter(filter: StreamFilter, chunks: readonly string[]): string {
  const passed: Buffer[] = [];
  for (const chunk of chunks) passed.push(...filter.push(Buffer.from(chunk)));
  passed.push(...filter.end());
  return Buffer.concat(passed).toString();
}

/** Events of a format without names. */
export function dataEvents(...values: readonly unknown[]): string {
  return values.map((value) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`).join("");
}

/** Events with the name that their `type` says. */
export function namedEvents(...values: readonly { readonly type: string }[]): string {
  return values.map((value) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`).join("");
}
