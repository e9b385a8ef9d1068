/**
 * Tells the most that a call for pictures may use, whichever target of its route serves it (docs/design/images.md 4): Google's
 * models read the call anew for each request, and bill every picture alike, whatever quality is asked for.
 */
import { estimateTextTokens } from "#proxy/admit/estimate-cost";
import type { UnitsNeeded } from "#proxy/admit/estimate-units";
import type { AuthorizedCall } from "#proxy/dispatch/admitted-call";
import { imageFormatsFor } from "#proxy/endpoints/images/dialects/image-dialects";
import { picturesOfRequest } from "#proxy/endpoints/images/dialects/predict-dialect";
import { googleTokensMax, inputTokensOfImage, outputTokensAtMost } from "#proxy/endpoints/images/replies/image-tokens";
import { spokenFormat } from "#proxy/route/select-target";
import { upstreamModelOf } from "#proxy/route/upstream-model";
import type { ImageCall } from "./image-call.ts";

export function imageNeeds({
  call,
  route,
  snapshot,
}: Pick<AuthorizedCall<ImageCall>, "call" | "route" | "snapshot">): UnitsNeeded {
  const { asked, count, sources, mask, prompt } = call;
  const requests = googleRequestsAtMost(call, route, snapshot);
  const promptBytes = Buffer.byteLength(prompt);
  const pictures = sources.length + (mask === undefined ? 0 : 1);
  const made = outputTokensAtMost(call);
  const usage = {
    input: estimateTextTokens(promptBytes, promptBytes, snapshot.fleet) * Math.max(1, requests),
    imageInput: pictures * inputTokensOfImage * Math.max(1, requests),
    output: made.output,
    imageOutput: Math.max(made.imageOutput, requests === 0 ? 0 : count * googleTokensMax),
  };
  return { usage, images: [{ ...asked, count }] };
}

/** 0 where no target is Google's. */
function googleRequestsAtMost(
  call: ImageCall,
  route: AuthorizedCall["route"],
  snapshot: AuthorizedCall["snapshot"],
): number {
  if (call.endpoint.format === "Predict") return 1;
  let most = 0;
  for (const target of route.targets) {
    const channel = snapshot.channel(target.channel);
    if (channel === undefined) continue;
    const formats = imageFormatsFor(call.endpoint.format, upstreamModelOf({ route, target, channel }, call.model));
    const format = spokenFormat(channel, formats)?.format;
    if (format === "GenerateContent") most = Math.max(most, call.count);
    if (format === "Predict") most = Math.max(most, Math.ceil(call.count / picturesOfRequest));
  }
  return most;
}
