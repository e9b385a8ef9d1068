/** Says in which formats a completion is asked: in its own, or in chat where channel or model know nothing else. */
import type { AuthorizedCall } from "#proxy/dispatch/admitted-call";
import { chatFormatsFor } from "#proxy/route/chat-formats";
import type { OtherWay, ServedCall } from "#proxy/route/select-target";
import type { CompletionCall } from "./read-completion.ts";

/** As a client of chat completions has them. */
const chatFormats = chatFormatsFor("ChatCompletions");

/** The endpoint's own, then those of chat. */
export const completionFormats = ["Completions", ...chatFormats] as const;

export type CompletionFormat = (typeof completionFormats)[number];

/** A model that can only chat goes on with a text as well. */
export const inChat: OtherWay<CompletionFormat> = { capability: "Chat", formats: chatFormats };

export function servedCompletion({
  route,
  call: { model, endpoint },
}: Pick<AuthorizedCall<CompletionCall>, "route" | "call">): ServedCall<CompletionFormat> {
  return { route, model, capability: endpoint.capability, formats: completionFormats, instead: inChat };
}
