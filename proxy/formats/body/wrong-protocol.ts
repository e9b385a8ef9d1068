/**
 * Recognises bodies sent to another protocol's address (docs/design/interface.md 4.1): it refuses them with 400 and
 * names the right address.
 */
import { GatewayError } from "#proxy/errors";
import type { ScannedObject } from "#proxy/json/strict-json";
import { presentMember } from "./parameter-rules.ts";

/** What a body of each kind is, and where it belongs; to be read after "This is a". */
export const bodyAddresses = {
  chat: "chat completions body (`messages`): send it to POST {base_url}/chat/completions, where {base_url} ends in /v1",
  responses: "responses body (`input`): send it to POST {base_url}/responses, where {base_url} ends in /v1",
  messages:
    "messages-style body (`system`, `max_tokens`): send it to POST {base_url_b}/v1/messages, where {base_url_b} is the host root",
  contents:
    "contents-style body (`contents`): send it to POST {base_url_c}/models/{model}:generateContent, where {base_url_c} ends in /v1beta",
} as const;

/** A member that only another protocol's bodies have. */
export interface ForeignMember {
  readonly name: string;
  readonly means: keyof typeof bodyAddresses;
  /** Only when this member is absent: the endpoint's own. */
  readonly unless?: string;
}

/** @throws GatewayError `wrong_protocol` */
export function refuseForeignBody(body: ScannedObject, foreign: readonly ForeignMember[]): void {
  for (const { name, means, unless } of foreign) {
    if (presentMember(body, name) === undefined) continue;
    if (unless !== undefined && presentMember(body, unless) !== undefined) continue;
    throw new GatewayError("wrong_protocol", `This is a ${bodyAddresses[means]}.`, { param: name });
  }
}
