/** Shortens identifiers of end users that a provider would refuse for their length. */
import { createHash } from "node:crypto";

/** OpenAI's limit for `user`, in either of its formats. */
export const openAIUserCharactersMax = 64;

/** A digest of what is too long, the same for the same: cut off, it could be somebody else. */
export function shortIdentifier(identifier: string, charactersMax: number): string {
  return identifier.length <= charactersMax ? identifier : createHash("sha256").update(identifier).digest("hex");
}
