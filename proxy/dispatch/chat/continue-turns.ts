/**
 * Continues turns that a provider pauses, for clients whose format has no pause, as long as the limits of caller and
 * channel have room for one more request: each request reads the whole conversation again, and is paid for.
 *
 * `endpoints/chat/serve-chat.ts` calls it for each attempt; nearly all are sent unchanged.
 */

import { claimsOf } from "#proxy/admit/claims";
import { estimateTurn } from "#proxy/admit/estimate-cost";
import type { AdmittedChat } from "#proxy/dispatch/admitted-call";
import type { CallUpstream } from "#proxy/dispatch/dispatch-call";
import type { PausedTurn } from "#proxy/formats/turn-splicer";
import type { SelectedTarget } from "#proxy/route/select-target";
import { ContinuingUpstream } from "#proxy/upstream/continuing-upstream";
import { HeldReply } from "#proxy/upstream/reply/held-reply";
import type { ReplySource } from "#proxy/upstream/reply/reply-source";
import type { PreparedAttempt } from "./prepare-attempt.ts";

export function continuingTurns(
  admitted: AdmittedChat,
  selected: SelectedTarget,
  { translation, request }: PreparedAttempt,
  upstream: CallUpstream,
): ReplySource {
  const { eventBytesMax, replyBodyBytesMax } = admitted.services.limits;
  const splicer = translation?.createTurnSplicer(request.body, { eventBytesMax, responseBytesMax: replyBodyBytesMax });
  if (splicer === undefined) return upstream;
  return new ContinuingUpstream({
    upstream,
    splicer,
    held: new HeldReply(admitted.inFlightBytes),
    mayContinue: (turn) => hasRoom(admitted, selected, turn),
  });
}

/** Nothing goes on where nobody can say that it may. */
async function hasRoom(admitted: AdmittedChat, { channel }: SelectedTarget, turn: PausedTurn): Promise<boolean> {
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
    return isReserved || refuse("a limit has no room for another request");
  } catch (error) {
    return refuse("the ledger failed", error);
  }
}
