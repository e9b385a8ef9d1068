/**
 * Defines the endpoint that passes calls on as they are: `/v1/passthrough/{model}/{path}`, for what an upstream has beside
 * its models, such as files and batches.
 *
 * Closed by default: a channel names the paths (`spec.formats`, type `Passthrough`), and a route with the capability
 * `Passthrough` opens them under its name. Restrictions, limits and prices are those of every route and key. What the
 * gateway knows of such a call is its path, and the usage that its reply reports.
 */
import { estimateTextTokens } from "#proxy/admit/estimate-cost";
import { estimateUnits } from "#proxy/admit/estimate-units";
import type { AuthorizedCall } from "#proxy/dispatch/admitted-call";
import type { SettlementContext } from "#proxy/dispatch/reservations/settle-call";
import { type UnitCounter, UnitSettlement } from "#proxy/dispatch/reservations/settle-units";
import type { OpaqueEndpoint } from "#proxy/endpoints/endpoint";
import { openBrace, openBracket, skipSpace } from "#proxy/json/json-tokens";
import { type TokenUsage, zeroUsage } from "#proxy/settle/usage";
import {
  matchPassThrough,
  methods,
  type PassThroughCall,
  type PassThroughMatch,
  readPassThrough,
} from "./read-pass-through.ts";
import { refuseUnknownPath, servePassThrough } from "./serve-pass-through.ts";

/** No upstream says what it read of a call whose form nobody knows: what it does not report costs the request alone. */
const counter: UnitCounter = { parts: 1, tokens: () => zeroUsage, partial: () => ({ usage: zeroUsage }) };

export const passThrough: OpaqueEndpoint<PassThroughMatch, PassThroughCall> = {
  name: "pass-through",
  capability: "Passthrough",
  channelFormats: ["Passthrough"],
  body: "any",
  paths: [
    {
      kind: "rest",
      path: "/v1/passthrough/{model}/{path}",
      // A name with a slash cannot be told from the path: its route needs an alias.
      pattern: /^\/(?:v1\/)?passthrough\/([A-Za-z0-9][A-Za-z0-9._:@+~-]{0,255})(\/.+)$/,
      methods,
      match: matchPassThrough,
    },
  ],
  metricFormat: ({ format }) => format,
  read: readPassThrough,
  checkParameters: () => {},
  need: (authorized) => {
    refuseUnknownPath(authorized);
    return { amounts: estimateUnits({ usage: tokensOf(authorized) }, authorized.route.price) };
  },
  settlement: (context: SettlementContext<PassThroughCall>) => new UnitSettlement(context, counter),
  serve: servePassThrough,
};

/**
 * Where tokens have a price a JSON body may be a prompt: reserved as one, with the reply that models make by default.
 * Upstreams read JSON under any content type: what tells it is its first byte.
 */
function tokensOf({ call, route, snapshot }: AuthorizedCall<PassThroughCall>): Partial<TokenUsage> {
  const { price, info } = route;
  const isPriced = price?.input !== undefined || price?.output !== undefined;
  if (!isPriced || !isJson(call.bytes)) return {};
  const { defaultOutputReserve } = snapshot.fleet;
  return {
    input: estimateTextTokens(call.bytes.length, call.bytes.length, snapshot.fleet),
    output: Math.min(defaultOutputReserve, info?.maxOutputTokens ?? defaultOutputReserve),
  };
}

function isJson(bytes: Buffer): boolean {
  const first = bytes[skipSpace(bytes, 0, bytes.length)];
  return first === openBrace || first === openBracket;
}
