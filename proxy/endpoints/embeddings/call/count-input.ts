/** Counts what a call asks an upstream to read, for upstreams that do not report it. */
import { attachmentTokens } from "#proxy/admit/estimate-cost";
import type { SettlementContext } from "#proxy/dispatch/reservations/settle-call";
import type { UnitCounter } from "#proxy/dispatch/reservations/settle-units";
import type { Services } from "#proxy/dispatch/services";
import { roughTokensOf } from "#proxy/settle/estimate-tokens";
import { readPrompt } from "#proxy/settle/prompt-text";
import { type TokenUsage, zeroUsage } from "#proxy/settle/usage";
import type { EmbeddingCall } from "./embedding-call.ts";
import { partsOf } from "./read-embed-content.ts";

type Tokenizer = Pick<Services, "estimateTokens">;

const counted = new WeakMap<EmbeddingCall, Promise<TokenUsage>>();

/** Counted once, for the client's response and for its bill. */
export function countInput(call: EmbeddingCall, tokenizer: Tokenizer): Promise<TokenUsage> {
  let usage = counted.get(call);
  if (usage === undefined) {
    usage = count(call, tokenizer);
    counted.set(call, usage);
  }
  return usage;
}

/** A reply in a vendor's own form, which may tell none, for a client that always gets usage. */
export function missingUsage(call: EmbeddingCall, tokenizer: Tokenizer): (() => Promise<TokenUsage>) | undefined {
  return call.endpoint.format === "Embeddings" ? () => countInput(call, tokenizer) : undefined;
}

async function count(call: EmbeddingCall, { estimateTokens }: Tokenizer): Promise<TokenUsage> {
  const { text, bytesBeyond } = readPrompt(inputOf(call));
  const tokens = text === "" ? 0 : await estimateTokens(text);
  const others = call.tokenIds + call.attachments * attachmentTokens;
  return { ...zeroUsage, input: tokens + roughTokensOf(bytesBeyond) + others };
}

function inputOf({ body, requests }: EmbeddingCall): Buffer {
  if (requests.length > 0) return Buffer.from(JSON.stringify(requests.flatMap(partsOf)));
  const input = body.member("input");
  return input === undefined ? body.bytes : body.bytes.subarray(input.valueStart, input.valueEnd);
}

/** A call that was sent is charged its input, whatever became of it. */
export function embeddingCounter({ call, services }: SettlementContext<EmbeddingCall>): UnitCounter {
  const tokens = (): Promise<TokenUsage> => countInput(call, services);
  return { parts: call.inputs ?? 1, tokens, partial: async () => ({ usage: await tokens() }) };
}
