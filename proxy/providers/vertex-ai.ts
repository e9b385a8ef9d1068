/**
 * Describes Google's models at Vertex AI, which refuses the id of a call with 400 and does not mix built-in tools with
 * functions.
 */
import { compatible } from "./compatible.ts";
import { notGoogle } from "./gemini.ts";
import type { Provider } from "./provider.ts";

export const vertexAI: Provider = { ...compatible, vendor: "Google", unsupported: { GenerateContent: notGoogle } };
