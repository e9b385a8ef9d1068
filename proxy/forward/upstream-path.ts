/**
 * The path of an upstream request: the channel's own template and an encoded model name, no byte of the client's URL
 * (RELIABILITY.md C2).
 */
import { GatewayError } from "../errors.ts";
import type { Channel } from "../snapshot/types.gen.ts";

/**
 * @param template of the channel's format, with `{model}` and `{verb}` where the format has them
 * @param verb Gemini-style only, for example `streamGenerateContent`
 * @returns path and query for the request line
 * @throws GatewayError `model_not_found` for a name that cannot stand in a path
 */
export function upstreamPath(channel: Channel, template: string, upstreamModel: string, verb: string): string {
  const prefix = prefixOf(channel);
  if (!template.includes("{")) return prefix + template;
  if (!isSafeName(upstreamModel)) {
    throw new GatewayError("model_not_found", "The model does not exist or this key has no access to it.", {
      param: "model",
    });
  }
  return prefix + template.replace("{model}", encodeURIComponent(upstreamModel)).replace("{verb}", verb);
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
