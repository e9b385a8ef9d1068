/** Lists the endpoints that the proxy serves, one folder each. */
import { chat } from "./chat/endpoint.ts";
import { completions } from "./completions/endpoint.ts";
import { countTokens } from "./count-tokens/endpoint.ts";
import { embeddings } from "./embeddings/endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { imageEdits, imageGenerations, imagePredictions, imageVariations } from "./images/endpoint.ts";
import { models } from "./models/endpoint.ts";
import { moderations } from "./moderations/endpoint.ts";
import { passThrough } from "./pass-through/endpoint.ts";
import { realtime } from "./realtime/endpoint.ts";
import { rerank } from "./rerank/endpoint.ts";
import { speech } from "./speech/endpoint.ts";
import { storedResponses } from "./stored-responses/endpoint.ts";
import { transcriptions, translations } from "./transcripts/endpoint.ts";

export const endpoints: readonly Endpoint[] = [
  chat,
  completions,
  countTokens,
  storedResponses,
  embeddings,
  rerank,
  moderations,
  speech,
  transcriptions,
  translations,
  imageGenerations,
  imageEdits,
  imageVariations,
  imagePredictions,
  realtime,
  passThrough,
  models,
];
