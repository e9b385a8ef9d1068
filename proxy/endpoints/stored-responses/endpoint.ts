/** Defines the endpoint of stored responses: read one, delete one, list its input. */
import type { PlainEndpoint } from "#proxy/endpoints/endpoint";
import { type StoredResponseMatch, serveStoredResponse } from "./serve-stored-response.ts";

/**
 * Letters and digits as every provider's ids have them, because the id goes into an upstream's path; other endpoints of the
 * format, which are not served, look like ids and are none.
 */
const id = "(?!(?:compact|input_tokens)(?:/|$))([A-Za-z0-9][\\w-]{0,255})";

function ask(action: StoredResponseMatch["action"]): (responseId: string) => StoredResponseMatch {
  return (responseId) => ({ protocol: "OpenAI", action, responseId });
}

export const storedResponses: PlainEndpoint<StoredResponseMatch> = {
  name: "stored-responses",
  capability: "Chat",
  channelFormats: ["Responses"],
  body: "none",
  paths: [
    {
      kind: "item",
      path: "/v1/responses/{id}",
      pattern: new RegExp(`^/(?:v1/){0,2}responses/${id}$`),
      methods: { GET: ask("read"), DELETE: ask("delete") },
    },
    {
      kind: "item",
      path: "/v1/responses/{id}/input_items",
      pattern: new RegExp(`^/(?:v1/){0,2}responses/${id}/input_items$`),
      methods: { GET: ask("list-input") },
    },
  ],
  metricFormat: () => "Responses",
  serve: serveStoredResponse,
};
