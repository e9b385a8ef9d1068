/** The list of what the demo upstream serves, and the search in it. A WebSocket is opened at `realtime/`. */
import { speech } from "./audio/speech.ts";
import { transcriptions, translations } from "./audio/transcriptions.ts";
import { chatEndpoints } from "./chat.ts";
import type { DemoEndpoint } from "./endpoint.ts";
import { imageEdits, imageVariations } from "./images/edits.ts";
import { imageGenerations } from "./images/generations.ts";
import { predict } from "./images/predict.ts";
import { completions } from "./text/completions.ts";
import { moderations } from "./text/moderations.ts";
import { batchEmbedContents, embedContent } from "./vectors/embed-content.ts";
import { embeddings } from "./vectors/embeddings.ts";
import { cohereRerank, rerank } from "./vectors/rerank.ts";

const endpoints: readonly DemoEndpoint[] = [
  ...chatEndpoints,
  completions,
  moderations,
  embeddings,
  embedContent,
  batchEmbedContents,
  rerank,
  cohereRerank,
  imageGenerations,
  imageEdits,
  imageVariations,
  predict,
  speech,
  transcriptions,
  translations,
];

export interface DemoMatch {
  readonly endpoint: DemoEndpoint;
  readonly modelInPath: string | undefined;
}

/** @returns undefined where nothing is served, or the path's percent-encoding is broken */
export function matchEndpoint(path: string): DemoMatch | undefined {
  for (const endpoint of endpoints) {
    const match = endpoint.path.exec(path);
    if (match === null) continue;
    const model = match.groups?.["model"];
    if (model === undefined) return { endpoint, modelInPath: undefined };
    try {
      return { endpoint, modelInPath: decodeURIComponent(model) };
    } catch {
      return undefined;
    }
  }
  return undefined;
}
