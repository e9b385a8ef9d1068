/** Google's models at Vertex AI, which answers 400 for the id of a call and does not mix tools. */
import { compatible } from "./compatible.ts";
import { notGoogle } from "./gemini.ts";
import type { Provider } from "./provider.ts";

export const vertexAI: Provider = { ...compatible, vendor: "Google", unsupported: { GenerateContent: notGoogle } };
