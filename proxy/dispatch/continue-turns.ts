/**
 * Turns that a provider pauses are continued for clients that have no word for a pause, as far as the limits of caller
 * and channel have room for one more request: each reads all that was said before, and is paid for.
 *
 * Called by `serve-chat.ts` for each attempt; nearly all are sent as they are.
 */

import { claimsOf } from "#proxy/admit/claims";
import { estimateTurn } from "#proxy/admit/estimate-cost";
import type { PausedTurn } from "#proxy/formats/turn-splicer";
import type { SelectedTarget } from "#proxy/route/select-target";
import { ContinuingUpstream } from "#proxy/upstream/continuing-upstream";
import type { AnswerSource } from "#proxy/upstream/reply/answer-source";
import { HeldAnswer } from "#proxy/upstream/reply/held-answer";
import type { AdmittedCall } from "./admitted-call.ts";
import type { CallUpstream } from "./dispatch-call.ts";
import type { PreparedAttempt } from "./prepare-attempt.ts";

export function continuingTurns(
  admitted: AdmittedCall,
  selected: SelectedTarget,
  { translation, request }: PreparedAttempt,
  upstream: CallUpstream,
): AnswerSource {
  const { eventBytesMax, replyBodyBytesMax } = admitted.services.limits;
  const splicer = translation?.createTurnSplicer(request.body, { eventBytesMax, responseBytesMax: replyBodyBytesMax });
  if (splicer === undefined) return upstream;
  return new ContinuingUpstream({
    upstream,
    splicer,
    held: new HeldAnswer(admitted.inFlightBytes),
    mayGoOn: (turn) => hasRoom(admitted, selected, turn),
  });
}

/** Nothing goes on where nobody can say that it may. */
async function hasRoom(admitted: AdmittedCall, { channel }: SelectedTarget, turn: PausedTurn): Promise<boolean> {
  const { snapshot, found, route, call, estimate, settlement, services, record } = admitted;
  const { key } = found;
  const refuse = (reason: string, cause?: unknown): boolean => {
    const fields = { request: record.requestId, channel: record.channel, reason };
    services.log.warn("a paused turn was not continued", cause === undefined ? fields : { ...fields, cause });
    return false;
  };
  try {
    const account = key.account === undefined ? undefined : snapshot.account(key.namespace, key.account);
    const claims = claimsOf(key, account, route, call.model);
    const need = estimateTurn(turn, estimate, route, snapshot.fleet);
    const isReserved = await settlement.reserveRequest(claims, channel, need, turn);
    return isReserved || refuse("a limit has no room for what it would still take");
  } catch (error) {
    return refuse("the ledger failed", error);
  }
}
