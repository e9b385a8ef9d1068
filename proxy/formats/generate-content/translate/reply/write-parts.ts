/** Writes blocks of a reply as parts, for whole replies and for frames of a stream. */

import { rawArgumentsMember } from "#proxy/formats/generate-content/translate/raw-arguments";
import { argumentsObject } from "#proxy/json/json-text";
import type { JsonObject } from "#proxy/json/json-value";
import type { CallBlock, HostedBlock, MediaBlock } from "#proxy/neutral/reply";

/** @param id as the client gets it, never empty */
export function writeCallPart(
  { name, tool, arguments: text }: Pick<CallBlock, "name" | "tool" | "arguments">,
  id: string,
  signature: string | undefined,
): JsonObject {
  // Custom tools are unknown to clients of this format; one that slips in is a call with its text as the one argument.
  const args = tool === "custom" ? { input: text } : (argumentsObject(text) ?? { [rawArgumentsMember]: text });
  return { functionCall: { id, name, args }, ...(signature === undefined ? {} : { thoughtSignature: signature }) };
}

/** @returns nothing for a file without data or address */
export function writeMediaPart({ mime, base64, url }: MediaBlock): JsonObject[] {
  if (base64 !== undefined) return [{ inlineData: { mimeType: mime, data: base64 } }];
  return url === undefined ? [] : [{ fileData: { mimeType: mime, fileUri: url } }];
}

/** Code that a provider ran; other tools' doings have no place here and never become text. */
export function writeHostedParts({ tool, code, output }: HostedBlock): JsonObject[] {
  if (tool !== "code") return [];
  return [
    ...(code === undefined ? [] : [{ executableCode: { language: "PYTHON", code } }]),
    ...(output === undefined ? [] : [{ codeExecutionResult: { outcome: "OUTCOME_OK", output } }]),
  ];
}
