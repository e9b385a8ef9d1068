/**
 * Builds the path and query of an upstream request: the channel's own template, an encoded model name, and the
 * credential where the channel wants it in the query; no byte of the client's URL (docs/design/reliability.md C2).
 */
import { GatewayError } from "#proxy/errors";
import { providerOf } from "#proxy/providers/providers";
import type { Channel, Credential } from "#proxy/snapshot/types.gen";

/** The channel and credential of a path. Every path needs both, or a credential that belongs into the query is lost. */
export interface PathOwner {
  readonly channel: Channel;
  readonly credential: Credential | undefined;
}

/**
 * @param template of the channel's format, with `{model}` and `{verb}` where the format has them
 * @param verb Gemini-style only, for example `streamGenerateContent`
 * @param query what else is asked by query, encoded; may be empty
 * @returns path and query for the request line
 * @throws GatewayError `model_not_found` for a name that cannot be in a path
 */
export function upstreamPath(
  owner: PathOwner,
  template: string,
  upstreamModel: string,
  verb: string,
  query = "",
): string {
  const path = prefixOf(owner.channel) + filled(template, upstreamModel, verb);
  const asked = queryOf(owner, query);
  return asked === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${asked}`;
}

function queryOf({ channel, credential }: PathOwner, query: string): string {
  const { auth } = channel;
  // The secret of a provider that signs is never sent.
  if (auth.location !== "Query" || credential === undefined || providerOf(channel).sign !== undefined) return query;
  const secret = `${encodeURIComponent(auth.name)}=${encodeURIComponent(credential.secret)}`;
  return query === "" ? secret : `${query}&${secret}`;
}

function filled(template: string, upstreamModel: string, verb: string): string {
  if (!template.includes("{")) return template;
  if (!isSafeName(upstreamModel)) {
    throw new GatewayError("model_not_found", "The model does not exist or this key has no access to it.", {
      param: "model",
    });
  }
  return template.replace("{model}", encodeURIComponent(upstreamModel)).replace("{verb}", verb);
}

const prefixes = new WeakMap<Channel, string>();

function prefixOf(channel: Channel): string {
  let prefix = prefixes.get(channel);
  if (prefix === undefined) {
    const { pathname } = new URL(channel.baseURL);
    prefix = pathname.endsWith("/") ? pathname.slice(0, -1) : pathname;
    prefixes.set(channel, prefix);
  }
  return prefix;
}

/** Dot segments would be resolved by some hop; the rest has no business in a model name. */
function isSafeName(name: string): boolean {
  return !/[\s%?#\\\p{Cc}]/u.test(name) && !name.split("/").some((segment) => segment === "." || segment === "..");
}
