/** Answers model lists and single models: exactly the names that enforcement would let this key call. */
import { allowedModel, authorizeEndpoint, type Caller, listAllowedModels } from "./authorize/decide.ts";
import type { RequestRecord } from "./observe/request-record.ts";
import { renderModel, renderModelList } from "./protocols/models/render-models.ts";
import type { Endpoint } from "./protocols/wire.ts";
import type { Exchange } from "./server.ts";

type ModelsEndpoint = Extract<Endpoint, { kind: "model-list" | "model-get" }>;

/** @throws GatewayError when the key may not list models, or may not see the one asked for */
export function serveModels(exchange: Exchange, endpoint: ModelsEndpoint, caller: Caller, record: RequestRecord): void {
  const { request, response } = exchange;
  authorizeEndpoint(caller, "Models");
  const body =
    endpoint.kind === "model-list"
      ? renderModelList(endpoint.protocol, listAllowedModels(caller), request.url ?? "")
      : renderModel(endpoint.protocol, allowedModel(caller, endpoint.modelInPath));
  record.status = 200;
  record.responseBytes = body.length;
  response.writeHead(200, {
    "content-type": "application/json",
    "content-length": body.length,
    "x-request-id": record.requestId,
    "request-id": record.requestId,
  });
  response.end(body);
}
