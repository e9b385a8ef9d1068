/** Estimates what a completion may need: as a chat call, for each of its prompts. */
import { balanceLeft } from "#proxy/admit/balance-left";
import type { Claims } from "#proxy/admit/claims";
import { bytesPerToken, type ChatEstimate, capsOutput, estimateCost } from "#proxy/admit/estimate-cost";
import { worstCaseOutput } from "#proxy/endpoints/chat/worst-case-output";
import { spokenTo } from "#proxy/route/select-target";
import { servedCompletion } from "./completion-formats.ts";
import type { CompletionCall } from "./read-completion.ts";
import type { AuthorizedCompletion } from "./serve-completion.ts";

export function estimateCompletion(
  { call, route, snapshot, services }: AuthorizedCompletion,
  claims: Claims,
): ChatEstimate | Promise<ChatEstimate> {
  const { fleet } = snapshot;
  const served = servedCompletion({ route, call });
  const { candidates, prompts } = call;
  const counted = { ...call, candidates: candidates * prompts, textBytes: textBytesOf(call) };
  const ruled = worstCaseOutput(
    { ...call, endpoint: { format: "Completions" } },
    route,
    snapshot,
    (target, channel) => spokenTo(target, channel, served)?.format,
  );
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
