/**
 * Builds the record that is stored of a successful call, when the client allows it (`store`;
 * docs/design/responses.md 7).
 */
import { asList, isObject, type JsonObject, member } from "#proxy/json/json-value";
import { inputItems } from "./conversation-items.ts";
import type { LocalResponse, NativeResponse } from "./stored-response.ts";

/** Whether anything may be kept. Nothing is where the client says no, or the channel forbids its provider to store. */
export function mayKeep(body: JsonObject, storePolicy: "PassThrough" | "ForceFalse"): boolean {
  return storePolicy === "PassThrough" && member(body, "store") !== false;
}

/**
 * A conversation of a translated call.
 * @param body as the client sent it, before references were resolved
 * @param response the whole response object as the client gets it
 * @returns undefined for a response that cannot be gone on from
 */
export function localResponse(
  body: JsonObject,
  response: JsonObject,
  context: { readonly nowMs: number; readonly model: string; readonly newId: (prefix: string) => string },
): LocalResponse | undefined {
  const { id, status } = response;
  if (typeof id !== "string" || (status !== "completed" && status !== "incomplete")) return undefined;
  return {
    kind: "local",
    id,
    previousId: textMember(body, "previous_response_id"),
    createdMs: context.nowMs,
    model: context.model,
    input: inputItems(body, context.newId),
    response,
  };
}

/**
 * Where a response of a channel that speaks the format is kept.
 * @param response what is known of it: the whole one, or the one of `response.created` with the finished items
 */
export function nativeResponse(
  body: JsonObject,
  response: unknown,
  items: readonly unknown[],
  context: {
    readonly nowMs: number;
    readonly model: string;
    readonly channel: string;
    readonly credential: string | undefined;
  },
): NativeResponse | undefined {
  const id = member(response, "id");
  // What the provider did not store cannot be asked for again.
  if (typeof id !== "string" || id === "" || member(response, "store") === false) return undefined;
  return {
    kind: "native",
    id,
    previousId: textMember(body, "previous_response_id"),
    createdMs: context.nowMs,
    model: context.model,
    channel: context.channel,
    credential: context.credential,
    itemIds: asList(items).flatMap((item) => {
      const itemId = isObject(item) ? item["id"] : undefined;
      return typeof itemId === "string" && itemId !== "" ? [itemId] : [];
    }),
  };
}

function textMember(body: JsonObject, name: string): string | undefined {
  const value = member(body, name);
  return typeof value === "string" ? value : undefined;
}
