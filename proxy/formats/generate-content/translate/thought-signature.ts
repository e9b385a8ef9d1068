/**
 * Reads and writes `thoughtSignature`, where Google keeps state in a conversation and where this gateway keeps other
 * providers' state (docs/design/translation.md 6.2, docs/design/generate-content.md 3.3).
 *
 * The member is base64 on the wire and clients decode it, so an envelope goes as base64 of its text.
 */

import { parseJsonText } from "#proxy/json/json-text";
import { isObject, type JsonObject } from "#proxy/json/json-value";
import type { CarriedState, ProviderState } from "#proxy/neutral/conversation";
import { isEnvelope } from "#proxy/neutral/state/envelope";

/** What Google documents for calls whose signature is not to be had (another provider's turn). */
export const skippedSignature = "skip_thought_signature_validator";

/** Whether Google's model of this name signs its calls: from generation 3 on, which names without a number are by now. */
export function signsCalls(model: string): boolean {
  return /(?:^|\/)gemini-(?![12](?:\D|$))/i.test(model);
}

/** How each envelope's base64 begins: base64 of the envelope's mark, cut to whole characters. */
export const sealedSignatureMark = "dGcxL";

/** A client's signature as state: our envelope, else Google's own. None for an empty one. */
export function readSignature(signature: unknown): readonly CarriedState[] {
  if (typeof signature !== "string" || signature === "" || signature === skippedSignature) return [];
  if (!signature.startsWith(sealedSignatureMark)) {
    return [{ type: "native", state: { kind: "thought-signature", data: signature } }];
  }
  const envelope = Buffer.from(signature, "base64").toString("latin1");
  if (isEnvelope(envelope)) return [{ type: "sealed", envelope }];
  return [{ type: "native", state: { kind: "thought-signature", data: signature } }];
}

export function isSealedSignature(signature: unknown): boolean {
  return readSignature(signature).some(({ type }) => type === "sealed");
}

/** What was sealed as a signature: an envelope as base64, Google's own as it is. */
export function sealedSignature(sealed: string): string {
  return isEnvelope(sealed) ? Buffer.from(sealed).toString("base64") : sealed;
}

/** What Google's own tools did, among states, in its order. */
export function serverToolParts(states: readonly ProviderState[]): JsonObject[] {
  return states.flatMap((state) => {
    if (state.kind !== "server-tool-part") return [];
    const part = parseJsonText(state.data);
    return isObject(part) ? [part] : [];
  });
}

/** Google's signature among states; the last one, should there be several. */
export function signatureOf(states: readonly ProviderState[]): string | undefined {
  for (let index = states.length - 1; index >= 0; index -= 1) {
    const state = states[index];
    if (state?.kind === "thought-signature") return state.data;
  }
  return undefined;
}
