/** Lists a page of a stored response's input items (`GET /v1/responses/{id}/input_items`). */
import { GatewayError } from "#proxy/errors";
import type { JsonObject } from "#proxy/json/json-value";
import type { LocalResponse } from "./stored-response.ts";

export interface PageQuestion {
  /** Raw values of the query; the first one counts. */
  readonly limit: string | undefined;
  readonly order: string | undefined;
  readonly after: string | undefined;
}

const limitDefault = 20;
const limitMax = 100;

/** Newest first unless asked otherwise. @throws GatewayError `invalid_value` naming the member of the query */
export function listInputItems({ input }: LocalResponse, question: PageQuestion): JsonObject {
  const { order = "desc", after } = question;
  if (order !== "asc" && order !== "desc") {
    throw new GatewayError("invalid_value", "'order' must be 'asc' or 'desc'.", { param: "order" });
  }
  const items = order === "asc" ? input : input.toReversed();
  const start = after === undefined ? 0 : items.findIndex(({ id }) => id === after) + 1;
  const limit = limitOf(question.limit);
  const data = items.slice(start, start + limit);
  return {
    object: "list",
    data,
    first_id: data[0]?.["id"] ?? null,
    last_id: data.at(-1)?.["id"] ?? null,
    has_more: start + limit < items.length,
  };
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return limitDefault;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= limitMax) return limit;
  throw new GatewayError("invalid_value", `'limit' must be from 1 to ${limitMax}.`, { param: "limit" });
}

/** The response to a deletion. */
export function deletedResponse(id: string): JsonObject {
  return { id, object: "response", deleted: true };
}
