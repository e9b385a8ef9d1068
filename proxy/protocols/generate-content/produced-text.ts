/** Finds what candidates produced, for estimates where usage is absent: text, thoughts, calls, code. */
import { asList, member } from "../json-value.ts";
import type { ProducedText } from "../retained-events.ts";

export function readProducedText(response: unknown, text: ProducedText): void {
  for (const candidate of asList(member(response, "candidates"))) {
    for (const part of asList(member(member(candidate, "content"), "parts"))) {
      text.add(member(part, "text"));
      const call = member(part, "functionCall");
      text.add(member(call, "name"));
      const args = member(call, "args");
      if (args !== undefined) text.add(JSON.stringify(args));
      for (const partial of asList(member(call, "partialArgs"))) text.add(member(partial, "stringValue"));
      text.add(member(member(part, "executableCode"), "code"));
    }
  }
}

/** Whether a frame carries parts at all. */
export function hasParts(response: unknown): boolean {
  return asList(member(response, "candidates")).some(
    (candidate) => asList(member(member(candidate, "content"), "parts")).length > 0,
  );
}
