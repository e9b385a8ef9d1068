/** Writes sampling as far as the model accepts it (docs/design/messages.md 2; pitfall 100). */
import type { Sampling } from "#proxy/neutral/conversation";
import type { NeutralField } from "#proxy/neutral/losses/neutral-fields";
import type { ClaudeTraits } from "#proxy/neutral/traits/claude-models";
import type { Block } from "./block.ts";

/** With thinking on, and on models that choose themselves, hardly anything may differ from the default. */
const temperatureDefault = 1;
const topPDefault = 1;
const topPMinThinking = 0.95;
const topPMinFixed = 0.99;

/** @param lose called for each field that cannot be said as the client said it */
export function writeSampling(
  { temperature, topP, topK, stop }: Sampling,
  traits: ClaudeTraits,
  isThinking: boolean,
  lose: (field: NeutralField) => void,
): Block {
  const body: Block = {};
  const isFixed = isThinking || !traits.takesSampling;
  if (temperature !== undefined) {
    if (temperature > 1 || (isFixed && temperature !== temperatureDefault)) lose("temperature");
    if (!isFixed || temperature === temperatureDefault) body["temperature"] = Math.min(temperature, 1);
  }
  if (topP !== undefined) {
    const isAlone = body["temperature"] === undefined || traits.takesBothSampling;
    const topPMin = !isFixed ? 0 : traits.takesSampling ? topPMinThinking : topPMinFixed;
    if (isAlone && topP >= topPMin) body["top_p"] = topP;
    else if (topP !== topPDefault) lose("topP");
  }
  if (topK !== undefined && isFixed) lose("topK");
  else if (topK !== undefined) body["top_k"] = topK;
  // Sequences of white space are refused by the vendor.
  const sayable = stop?.filter((sequence) => sequence.trim() !== "") ?? [];
  if (sayable.length < (stop?.length ?? 0)) lose("stop");
  if (sayable.length > 0) body["stop_sequences"] = sayable;
  return body;
}
