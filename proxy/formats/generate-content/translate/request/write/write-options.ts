/** Defines the options that all writers of a request share. */

import type { TranslationTarget } from "#proxy/formats/translator";
import type { Losses } from "#proxy/neutral/losses/losses";
import type { ToolNames } from "#proxy/neutral/tools/tool-names";
import type { GeminiTraits } from "#proxy/neutral/traits/gemini-models";

export interface WriteOptions {
  readonly target: TranslationTarget;
  readonly traits: GeminiTraits;
  readonly names: ToolNames;
  readonly losses: Losses;
}
