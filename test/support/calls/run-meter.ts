/** Runs text through a stream meter in tests. */
import type { StreamMeter } from "#proxy/formats/format";

/** @returns the text that passed, chunk by chunk, with what `end` added */
export function runMeter(meter: StreamMeter, chunks: readonly string[]): string {
  const passed: Buffer[] = [];
  for (const chunk of chunks) passed.push(...meter.push(Buffer.from(chunk)));
  passed.push(...meter.end());
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
