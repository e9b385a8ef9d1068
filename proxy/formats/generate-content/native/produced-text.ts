/** Finds what candidates produced, for estimates where usage is absent: text, thoughts, calls, code, media. */

import type { ProducedOutput } from "#proxy/formats/stream/produced";
import { asList, asText, member } from "#proxy/json/json-value";

export function readProduced(response: unknown, output: ProducedOutput): void {
  for (const candidate of asList(member(response, "candidates"))) {
    for (const part of asList(member(member(candidate, "content"), "parts"))) {
      output.add(member(part, "text"));
      const call = member(part, "functionCall");
      output.add(member(call, "name"));
      const args = member(call, "args");
      if (args !== undefined) output.add(JSON.stringify(args));
      for (const partial of asList(member(call, "partialArgs"))) output.add(member(partial, "stringValue"));
      output.add(member(member(part, "executableCode"), "code"));
      addMedia(member(part, "inlineData"), output);
    }
  }
}

function addMedia(data: unknown, output: ProducedOutput): void {
  const type = asText(member(data, "mimeType"));
  if (type.startsWith("image/")) output.addImage();
  if (type.startsWith("audio/")) output.addAudio(member(data, "data"));
}

/** Whether a frame carries parts at all. */
export function hasParts(response: unknown): boolean {
  return asList(member(response, "candidates")).some(
    (candidate) => asList(member(member(candidate, "content"), "parts")).length > 0,
  );
}
