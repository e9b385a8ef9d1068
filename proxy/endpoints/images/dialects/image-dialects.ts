/** Lists the dialects of the image endpoints, by the format of the channel. */
import type { AdmittedCall } from "#proxy/dispatch/admitted-call";
import type { Dialect, Dialects } from "#proxy/endpoints/dialects/dialect";
import type { ImageCall } from "#proxy/endpoints/images/call/image-call";
import { type ImageContext, imageContextOf } from "#proxy/endpoints/images/call/image-context";
import type { WireFormat } from "#proxy/snapshot/types.gen";
import { generateContentDialect } from "./generate-content-dialect.ts";
import { openAIDialect } from "./open-ai-dialect.ts";
import { ownPredictDialect, predictDialect } from "./predict-dialect.ts";

export function imageDialects(admitted: AdmittedCall<ImageCall>): Dialects<ImageCall> {
  const context = imageContextOf(admitted);
  return {
    formatsFor: ({ endpoint }) => imageFormatsFor(endpoint.format, ""),
    formatsOf: ({ endpoint }, upstreamModel) => imageFormatsFor(endpoint.format, upstreamModel),
    dialectOf: ({ endpoint }, { format }) =>
      endpoint.format === "Predict" ? ownPredictDialect(context) : dialectOf(format, context),
  };
}

/** The client's own format keeps everything. Which of Google's serves a model is told by its name. */
export function imageFormatsFor(client: WireFormat, upstreamModel: string): readonly WireFormat[] {
  if (client === "ImageVariations" || client === "Predict") return [client];
  if (client === "ImageEdits") return ["ImageEdits", "GenerateContent"];
  const isImagen = /(?:^|\/)imagen/.test(upstreamModel);
  return isImagen
    ? ["ImageGenerations", "Predict", "GenerateContent"]
    : ["ImageGenerations", "GenerateContent", "Predict"];
}

function dialectOf(format: WireFormat, context: ImageContext): Dialect<ImageCall> {
  if (format === "GenerateContent") return generateContentDialect(context);
  return format === "Predict" ? predictDialect(context) : openAIDialect(context);
}
