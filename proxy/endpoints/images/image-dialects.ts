/** Lists the dialects of the image endpoints, by the format of the channel. */
import type { AdmittedCall } from "#proxy/dispatch/admitted-call";
import type { Dialects } from "#proxy/endpoints/dialects/dialect";
import type { ImageCall } from "./image-call.ts";
import { imageContextOf } from "./image-context.ts";
import { openAIDialect } from "./open-ai-dialect.ts";

export function imageDialects(admitted: AdmittedCall<ImageCall>): Dialects<ImageCall> {
  const context = imageContextOf(admitted);
  return {
    formatsFor: (call) => [call.endpoint.format],
    dialectOf: () => openAIDialect(context),
  };
}
