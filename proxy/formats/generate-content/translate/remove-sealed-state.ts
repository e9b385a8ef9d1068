/**
 * Removes other providers' state from a client's body before it goes to Google itself
 * (`ClientTranslator.removeSealedState`).
 */
import { asList, isObject, type JsonObject } from "#proxy/json/json-value";
import { isSealedSignature, skippedSignature } from "./thought-signature.ts";

export function removeSealedState(body: JsonObject): JsonObject {
  const { contents } = body;
  const listed = isObject(contents) ? [contents] : asList(contents);
  const cleaned = listed.flatMap(cleanContent);
  const isUnchanged = cleaned.length === listed.length && cleaned.every((content, index) => content === listed[index]);
  return isUnchanged ? body : { ...body, contents: cleaned };
}

/** The content itself when it holds none; nothing when it held nothing else. */
function cleanContent(content: unknown): unknown[] {
  if (!isObject(content) || !Array.isArray(content["parts"])) return [content];
  const listed = asList(content["parts"]);
  const parts = listed.map(cleanPart);
  if (parts.every((part, index) => part === listed[index])) return [content];
  const kept = parts.filter((part) => part !== undefined);
  return kept.length === 0 ? [] : [{ ...content, parts: kept }];
}

/** Google wants a signed call to stay signed; a text that only carried state says nothing without it. */
function cleanPart(part: unknown): unknown {
  if (!isObject(part)) return part;
  const member = ["thoughtSignature", "thought_signature"].find((name) => isSealedSignature(part[name]));
  if (member === undefined) return part;
  const { [member]: _sealed, ...rest } = part;
  if (isObject(part["functionCall"]) || isObject(part["function_call"])) return { ...rest, [member]: skippedSignature };
  return rest["text"] === "" && Object.keys(rest).length === 1 ? undefined : rest;
}
