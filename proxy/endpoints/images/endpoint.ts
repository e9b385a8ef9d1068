/**
 * Defines the endpoints that make pictures: `/v1/images/generations`, `/v1/images/edits`, `/v1/images/variations` and
 * Google's `:predict` (docs/design/images.md).
 */
import type { Estimate } from "#proxy/admit/estimate-cost";
import { estimateUnits } from "#proxy/admit/estimate-units";
import { authorizeImages } from "#proxy/authorize/authorize-images";
import type { AdmittedCall, AuthorizedCall } from "#proxy/dispatch/admitted-call";
import type { CallSettlement, SettlementContext } from "#proxy/dispatch/reservations/settle-call";
import { UnitSettlement } from "#proxy/dispatch/reservations/settle-units";
import { eventWriter, jsonWriter } from "#proxy/endpoints/dialects/open-ai-writer";
import { serveDialects } from "#proxy/endpoints/dialects/serve-dialects";
import type { CallEndpoint, FormEndpoint, ModelEndpoint } from "#proxy/endpoints/endpoint";
import { openAIPath } from "#proxy/endpoints/open-ai-path";
import type { CallPath } from "#proxy/neutral/wire";
import { checkMemberRules } from "#proxy/parameters/member-rules";
import type { ImageCall, ImagePath } from "./call/image-call.ts";
import { imageNeeds } from "./call/image-needs.ts";
import { readFormEdit, readGeneration, readJsonEdit, repeatedImageParts } from "./call/read-image-call.ts";
import { readPredict } from "./call/read-predict-call.ts";
import { imageDialects, imageFormatsFor } from "./dialects/image-dialects.ts";
import { imageCounter } from "./replies/image-counter.ts";

const common: Pick<
  ModelEndpoint<CallPath, ImageCall>,
  "metricFormat" | "formatsOf" | "checkParameters" | "need" | "settlement" | "serve"
> = {
  metricFormat: ({ format }) => format,
  formatsOf: imageFormatsFor,
  checkParameters: ({ body }, route) => checkMemberRules(body, route),
  need: reserveImages,
  settlement: (context: SettlementContext<ImageCall>): CallSettlement =>
    new UnitSettlement(context, imageCounter(context)),
  serve: (admitted: AdmittedCall<ImageCall>) =>
    serveDialects(admitted, imageDialects(admitted), admitted.call.stream ? eventWriter : jsonWriter),
};

export const imageGenerations: CallEndpoint<CallPath, ImageCall> = {
  ...common,
  name: "image-generations",
  capability: "ImageGeneration",
  channelFormats: ["ImageGenerations", "GenerateContent", "Predict"],
  body: "json",
  paths: [
    openAIPath("/v1/images/generations", {
      protocol: "OpenAI",
      format: "ImageGenerations",
      capability: "ImageGeneration",
    }),
  ],
  read: readGeneration,
};

export const imageEdits: FormEndpoint<CallPath, ImageCall> = {
  ...common,
  name: "image-edits",
  capability: "ImageEdit",
  channelFormats: ["ImageEdits", "GenerateContent"],
  body: "form",
  repeatedParts: repeatedImageParts,
  paths: [openAIPath("/v1/images/edits", { protocol: "OpenAI", format: "ImageEdits", capability: "ImageEdit" })],
  readForm: readFormEdit,
  read: readJsonEdit,
};

export const imageVariations: FormEndpoint<CallPath, ImageCall> = {
  ...common,
  name: "image-variations",
  capability: "ImageEdit",
  channelFormats: ["ImageVariations"],
  body: "form",
  repeatedParts: repeatedImageParts,
  paths: [
    openAIPath("/v1/images/variations", { protocol: "OpenAI", format: "ImageVariations", capability: "ImageEdit" }),
  ],
  readForm: readFormEdit,
};

/** In which Google's older clients ask for pictures. */
export const imagePredictions: CallEndpoint<ImagePath, ImageCall> = {
  ...common,
  name: "image-predictions",
  capability: "ImageGeneration",
  channelFormats: ["Predict"],
  body: "json",
  paths: [
    {
      kind: "verb",
      verb: "predict",
      match: (modelInPath) => ({ protocol: "Gemini", format: "Predict", capability: "ImageGeneration", modelInPath }),
    },
  ],
  read: readPredict,
};

/** All pictures that are asked for, at the dearest that they may come to. */
function reserveImages(authorized: AuthorizedCall<ImageCall>): Estimate {
  const { call, route, snapshot, found } = authorized;
  authorizeImages({ key: found.key, snapshot, model: call.model }, route, [call.asked]);
  return { amounts: estimateUnits(imageNeeds(authorized), route.price) };
}
