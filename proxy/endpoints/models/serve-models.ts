/** Answers model lists and single models: exactly the names that enforcement would let this key call. */
import { allowedModel, authorizeEndpoint, type Caller, listAllowedModels } from "#proxy/authorize/decide";
import type { Exchange } from "#proxy/http1/server/exchange";
import type { Endpoint } from "#proxy/neutral/wire";
import type { RequestRecord } from "#proxy/observe/request-record";
import { renderModel, renderModelList } from "./render-models.ts";

type ModelsEndpoint = Extract<Endpoint, { kind: "model-list" | "model-get" }>;

/** @throws GatewayError when the key may not list models, or may not see the one asked for */
export function serveModels(exchange: Exchange, endpoint: ModelsEndpoint, caller: Caller, record: RequestRecord): void {
  const { request, response } = exchange;
  authorizeEndpoint(caller, "Models");
  const body =
    endpoint.kind === "model-list"
      ? renderModelList(endpoint.protocol, listAllowedModels(caller), request.url)
      : renderModel(endpoint.protocol, allowedModel(caller, endpoint.modelInPath));
  record.status = 200;
  record.responseBytes = body.length;
  const { requestId } = record;
  const headers = ["content-type", "application/json", "x-request-id", requestId, "request-id", requestId];
  response.writeHead(200, headers, body.length);
  response.end(body);
}
