/** What every piece of a written request must know. */
import type { Losses } from "../../losses.ts";
import type { ToolNames } from "../../tools/tool-names.ts";
import type { ModelTraits } from "../../traits/gemini-models.ts";
import type { TranslationTarget } from "../../translator.ts";

export interface WriteOptions {
  readonly target: TranslationTarget;
  readonly traits: ModelTraits;
  readonly names: ToolNames;
  readonly losses: Losses;
}
