/** Estimates what a completion may need: as a chat call, for each of its prompts. */
import { balanceLeft } from "#proxy/admit/balance-left";
import type { Claims } from "#proxy/admit/claims";
import { bytesPerToken, type ChatEstimate, capsOutput, estimateCost } from "#proxy/admit/estimate-cost";
import { worstCaseOutput } from "#proxy/endpoints/chat/worst-case-output";
import type { CompletionCall } from "./read-completion.ts";
import type { AuthorizedCompletion } from "./serve-completion.ts";

/** Completions have the members of chat completions that count. */
const countedAs = { format: "ChatCompletions" } as const;

export function estimateCompletion(
  { call, route, snapshot, services }: AuthorizedCompletion,
  claims: Claims,
): ChatEstimate | Promise<ChatEstimate> {
  const { fleet } = snapshot;
  const { candidates, prompts } = call;
  const counted = { ...call, endpoint: countedAs, candidates: candidates * prompts, textBytes: textBytesOf(call) };
  const ruled = worstCaseOutput({ ...call, endpoint: countedAs }, route, snapshot, "Completions");
  const sent = ruled && { ...ruled, candidates: Math.max(ruled.candidates, candidates) * prompts };
  if (!capsOutput(counted, fleet, sent)) return estimateCost(counted, route, fleet, undefined, sent);
  return balanceLeft(claims.balances, services.ledger).then((left) =>
    estimateCost(counted, route, fleet, () => left, sent),
  );
}

/** With what token ids would take as text. */
function textBytesOf({ body, tokenIds }: CompletionCall): number {
  return body.textBytes + tokenIds * bytesPerToken;
}
