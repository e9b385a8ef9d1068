/**
 * Decides whether a call of another format is better sent as Responses than as chat completions, on a channel that
 * speaks both.
 *
 * OpenAI's models keep their thinking from turn to turn in Responses alone, and from GPT-5.4 on refuse functions
 * beside thinking in chat completions ("Please use /v1/responses instead."). A call that asks for several candidates
 * stays in chat completions, which alone can carry them. Messages clients are always sent as Responses
 * (`route/select-target.ts`).
 */

import type { ChatCall } from "#proxy/formats/format";
import { prefersResponses } from "#proxy/neutral/traits/prefers-responses";
import { upstreamModelOf } from "#proxy/route/upstream-model";
import type { Channel, Route } from "#proxy/snapshot/types.gen";

/** The part of a call that decides. */
export type AskedCall = Pick<ChatCall, "model" | "candidates"> & {
  readonly endpoint: Pick<ChatCall["endpoint"], "format">;
};

export function askedInResponses(
  call: AskedCall,
  route: Route,
  target: Route["targets"][number],
  channel: Channel,
): boolean {
  if (call.endpoint.format !== "GenerateContent" || call.candidates > 1) return false;
  return prefersResponses({ channel, upstreamModel: upstreamModelOf({ channel, route, target }, call.model) });
}
