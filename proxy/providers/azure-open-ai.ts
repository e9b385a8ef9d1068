/** Describes OpenAI's models at Azure, which behave as at OpenAI itself. */
import { openAI } from "./open-ai.ts";
import type { Provider } from "./provider.ts";

export const azureOpenAI: Provider = openAI;
