/** Generated from proxy/endpoints/endpoints.ts by `npm run generate`; do not edit. */

/** Formats of a channel that an endpoint uses. */
export const servedFormats: ReadonlySet<string> = new Set(["ChatCompletions", "Completions", "CountTokens", "EmbedContent", "Embeddings", "GenerateContent", "ImageEdits", "ImageGenerations", "ImageVariations", "Messages", "Moderations", "Passthrough", "Predict", "Realtime", "Rerank", "Responses", "Speech", "Transcriptions", "Translations"]);

/** Capabilities that an endpoint has. */
export const servedCapabilities: ReadonlySet<string> = new Set(["Chat", "Completion", "CountTokens", "Embeddings", "ImageEdit", "ImageGeneration", "Models", "Moderation", "Passthrough", "Realtime", "Rerank", "Speech", "Transcription", "Translation"]);
