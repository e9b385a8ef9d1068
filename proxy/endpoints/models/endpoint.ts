/** Defines the model lists: `/v1/models` and `/v1/models/{model}`, in the shapes of three protocols. */
import type { PlainEndpoint } from "#proxy/endpoints/endpoint";
import { type ModelsMatch, serveModels } from "./serve-models.ts";

export const models: PlainEndpoint<ModelsMatch> = {
  name: "models",
  capability: "Models",
  channelFormats: [],
  body: "none",
  paths: [
    {
      kind: "models",
      list: (protocol) => ({ protocol, modelInPath: undefined }),
      one: (protocol, modelInPath) => ({ protocol, modelInPath }),
    },
  ],
  metricFormat: () => "Models",
  serve: serveModels,
};
