/**
 * What OpenAI's models take by their name, whichever of its two formats they are spoken to in: both translators ask
 * here, so that a model is not refused in one format what it is spared in the other (`protocols/openai-chat.md`
 * section 2).
 */

export interface OpenAIAbilities {
  /** Takes a wish for short or long answers. */
  readonly takesVerbosity: boolean;
  /** Takes tools with free text. */
  readonly takesCustomTools: boolean;
}

const neither: OpenAIAbilities = { takesVerbosity: false, takesCustomTools: false };
const customToolsOnly: OpenAIAbilities = { takesVerbosity: false, takesCustomTools: true };
/** The newest do, and so may those that nobody knows yet. */
const both: OpenAIAbilities = { takesVerbosity: true, takesCustomTools: true };

/** First match counts. */
const rows: readonly (readonly [name: RegExp, abilities: OpenAIAbilities])[] = [
  [/-search(?:-|$)/, neither],
  [/^(?:gpt-5(?:\.\d+)?-chat|codex)/, customToolsOnly],
  [/^(?:o\d|gpt-3\.5|gpt-4|chatgpt-4)/, neither],
];

/** @param name as `bareModelName` gives it */
export function openAIAbilities(name: string): OpenAIAbilities {
  return rows.find(([pattern]) => pattern.test(name))?.[1] ?? both;
}

/** Resellers put the vendor before the name, fine-tuned models have `ft:`. */
export function bareModelName(model: string): string {
  return model
    .slice(model.lastIndexOf("/") + 1)
    .toLowerCase()
    .replace(/^ft:/, "");
}
