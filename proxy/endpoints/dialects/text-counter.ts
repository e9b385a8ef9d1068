/** Counts the text of a JSON call, for upstreams that do not report what they read. */
import { attachmentTokens } from "#proxy/admit/estimate-cost";
import type { SettlementContext } from "#proxy/dispatch/reservations/settle-call";
import type { UnitCounter } from "#proxy/dispatch/reservations/settle-units";
import type { ModelCall } from "#proxy/formats/model-call";
import type { ScannedObject } from "#proxy/json/strict-json";
import { roughTokensOf } from "#proxy/settle/estimate-tokens";
import type { ChargedUnits } from "#proxy/settle/price";
import { readPrompt } from "#proxy/settle/prompt-text";
import { type TokenUsage, zeroUsage } from "#proxy/settle/usage";

/** A call whose input is the text of its JSON body. */
export interface TextCall extends ModelCall {
  readonly body: ScannedObject;
}

export interface TextInputs {
  /** As of `UnitCounter`. */
  readonly parts: number;
  /** Images and the like beside the text; none unless given. */
  readonly attachments?: number;
  /** As of `UnitCounter`. */
  readonly units?: ChargedUnits;
}

/** A call that was sent is charged its input, whatever became of it. */
export function textCounter(
  { call, services }: SettlementContext<TextCall>,
  { parts, attachments = 0, units }: TextInputs,
): UnitCounter {
  const tokens = async (): Promise<TokenUsage> => {
    const { text, bytesBeyond } = readPrompt(call.body.bytes);
    const counted = text === "" ? 0 : await services.estimateTokens(text);
    return { ...zeroUsage, input: counted + roughTokensOf(bytesBeyond) + attachments * attachmentTokens };
  };
  return { parts, units, tokens, partial: async () => ({ usage: await tokens(), units }) };
}
