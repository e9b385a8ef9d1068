/**
 * Defines the chat endpoints of four formats: `/v1/chat/completions`, `/v1/responses`, `/v1/messages`,
 * `:generateContent`.
 */
import { balanceLeft } from "#proxy/admit/balance-left";
import type { Claims } from "#proxy/admit/claims";
import { type ChatEstimate, capsOutput, estimateCost } from "#proxy/admit/estimate-cost";
import type { AuthorizedChat } from "#proxy/dispatch/admitted-call";
import { ChatSettlement, type ChatSettlementContext } from "#proxy/dispatch/reservations/settle-chat";
import type { CallEndpoint } from "#proxy/endpoints/endpoint";
import { openAIPath } from "#proxy/endpoints/open-ai-path";
import { GatewayError } from "#proxy/errors";
import type { ChatCall, ChatEndpoint } from "#proxy/formats/format";
import { clientFormats } from "#proxy/formats/registry";
import { queryValues } from "#proxy/http/query-values";
import { scanJsonObject } from "#proxy/json/strict-json";
import type { ProxyLimits } from "#proxy/limits";
import type { ChatWireFormat, Protocol } from "#proxy/neutral/wire";
import { checkRouteParameters } from "#proxy/parameters/route-parameters";
import { yieldToBatch } from "#proxy/runtime/request-batch";
import { serveChat } from "./serve-chat.ts";
import { chatFormatOn, worstCaseOutput } from "./worst-case-output.ts";

function inFormat(protocol: Protocol, format: ChatWireFormat): ChatEndpoint {
  return { protocol, format, capability: "Chat" };
}

const generateContent = inFormat("Gemini", "GenerateContent");

export const chat: CallEndpoint<ChatEndpoint, ChatCall> = {
  name: "chat",
  capability: "Chat",
  channelFormats: ["ChatCompletions", "Responses", "Messages", "GenerateContent"],
  body: "json",
  paths: [
    openAIPath("/v1/chat/completions", inFormat("OpenAI", "ChatCompletions")),
    {
      ...openAIPath("/v1/responses", inFormat("OpenAI", "Responses")),
      // Codex asks for one first; 426 makes it use HTTP at once (docs/design/agents.md 2).
      webSocketRefusal: "Responses are not served over WebSocket. Send POST over HTTP.",
    },
    {
      kind: "fixed",
      path: "/v1/messages",
      otherSpellings: ["/v1/v1/messages"],
      match: inFormat("Anthropic", "Messages"),
    },
    { kind: "verb", verb: "generateContent", match: (modelInPath) => ({ ...generateContent, modelInPath }) },
    {
      kind: "verb",
      verb: "streamGenerateContent",
      match: (modelInPath, rawUrl) => ({ ...generateContent, modelInPath, geminiStream: streamForm(rawUrl) }),
    },
  ],
  metricFormat: ({ format }) => format,
  read,
  checkParameters: checkRouteParameters,
  need,
  settlement: (context: ChatSettlementContext<ChatCall>) => new ChatSettlement(context),
  serve: serveChat,
};

/** Two stages, because the code of each fills the caches. */
async function read(bytes: Buffer, match: ChatEndpoint, limits: ProxyLimits): Promise<ChatCall> {
  const format = clientFormats[match.format];
  const { jsonDepthMax, jsonKeysMax } = limits;
  const scanned = scanJsonObject(bytes, { depthMax: jsonDepthMax, keysMax: jsonKeysMax, watch: format.watchedKeys });
  await yieldToBatch;
  return format.readCall(scanned, match);
}

/** What the call costs at most. Where the gateway sets the cap of its output, a balance can shorten it. */
function need(
  { call, route, snapshot, services }: AuthorizedChat,
  claims: Claims,
): ChatEstimate | Promise<ChatEstimate> {
  const { fleet } = snapshot;
  const sent = worstCaseOutput(call, route, snapshot, chatFormatOn(call, route));
  if (!capsOutput(call, fleet, sent)) return estimateCost(call, route, fleet, undefined, sent);
  return balanceLeft(claims.balances, services.ledger).then((left) =>
    estimateCost(call, route, fleet, () => left, sent),
  );
}

/** `alt` or `$alt`: `sse` streams events, `json` or none a JSON array (docs/design/generate-content.md 1 and 5.2). */
function streamForm(rawUrl: string): "sse" | "array" {
  const values = new Set(["alt", "$alt", "%24alt"].flatMap((name) => queryValues(rawUrl, name)));
  if (values.size > 1)
    throw new GatewayError("invalid_value", "'alt' is given twice with different values.", { param: "alt" });
  const [form] = values;
  if (form === "sse") return "sse";
  if (form === undefined || form === "json") return "array";
  throw new GatewayError("invalid_value", "'alt' must be 'sse' or 'json'.", { param: "alt" });
}
