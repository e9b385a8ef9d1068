/** Serves model lists and single models: exactly the names that enforcement would let this key call. */
import { allowedModel, listAllowedModels } from "#proxy/authorize/decide";
import type { Caller } from "#proxy/dispatch/admitted-call";
import type { Match } from "#proxy/endpoints/endpoint";
import { renderModel, renderModelList } from "./render-models.ts";

export interface ModelsMatch extends Match {
  /** The model asked for; undefined for the list. */
  readonly modelInPath: string | undefined;
}

/** @throws GatewayError when the key may not see the model asked for */
export function serveModels(
  { exchange, found, snapshot, record }: Caller,
  { protocol, modelInPath }: ModelsMatch,
): void {
  const { request, response } = exchange;
  const caller = { key: found.key, snapshot, protocol };
  const body =
    modelInPath === undefined
      ? renderModelList(protocol, listAllowedModels(caller), request.url)
      : renderModel(protocol, allowedModel(caller, modelInPath));
  record.status = 200;
  record.responseBytes = body.length;
  const { requestId } = record;
  const headers = ["content-type", "application/json", "x-request-id", requestId, "request-id", requestId];
  response.writeHead(200, headers, body.length);
  response.end(body);
}
