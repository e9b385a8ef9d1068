/**
 * What a model behind the responses API takes, by its name (`protocols/openai-chat.md` section 2, reasoning models;
 * `protocols/translation.md` section 6.1).
 *
 * Unknown models of the vendor itself behave as its newest; unknown models of compatible servers are sent nothing that
 * a plain server might refuse.
 */
import type { Channel } from "../../snapshot/types.gen.ts";
import type { Effort } from "../conversation.ts";
import { memoiseTraits } from "../memoise-traits.ts";
import { bareModelName, type OpenAIAbilities, openAIAbilities } from "../openai-models.ts";

export interface ModelTraits extends OpenAIAbilities {
  /** Takes `reasoning` and gives `encrypted_content`. */
  readonly thinks: boolean;
  /** Takes `temperature`, `top_p` and log probabilities: always, never, or only while it does not think. */
  readonly sampling: "always" | "never" | "without-thinking";
  /** Effort names it knows, weakest first. `none` switches thinking off. */
  readonly efforts: readonly (Effort | "none")[];
  /** Smallest output cap that is accepted. */
  readonly outputCapMin: number;
}

const plain = { thinks: false, sampling: "always", efforts: [] } as const;
const early = { thinks: true, sampling: "never", efforts: ["low", "medium", "high"] } as const;
const first5 = { thinks: true, sampling: "never", efforts: ["minimal", "low", "medium", "high"] } as const;
const newest = {
  thinks: true,
  sampling: "without-thinking",
  efforts: ["none", "low", "medium", "high", "xhigh"],
} as const;

/** First match counts. */
const table: readonly (readonly [RegExp, Pick<ModelTraits, "thinks" | "sampling" | "efforts">])[] = [
  [/^gpt-5[\w.]*-chat/, plain],
  [/^(?:gpt-(?:3|4)|chatgpt-|davinci|babbage)/, plain],
  [/^(?:o\d|codex-mini)/, early],
  [/^gpt-5(?:-(?:mini|nano|pro|codex|\d{4}-).*)?$/, first5],
  [/^gpt-oss/, { ...early, sampling: "always" }],
  [/^gpt-5\.1/, { ...newest, efforts: ["none", "low", "medium", "high"] }],
  [/^gpt-\d/, newest],
];

/** The names of the vendor's models that think are in the table; another name refuses no sampling. */
const unknownOfVendor = { ...newest, sampling: "always" } as const;

/** What a compatible server is trusted with: the words that all of them know. */
const compatible = { thinks: true, sampling: "always", efforts: ["none", "low", "medium", "high"] } as const;

/** OpenAI refuses smaller caps (`protocols/translation.md` section 3). */
const vendorOutputCapMin = 16;

/** The same, worked out once for a model on a channel. */
export const traitsOf = memoiseTraits(({ channel, upstreamModel }) => modelTraits(upstreamModel, channel.provider));

export function modelTraits(model: string, provider: Channel["provider"]): ModelTraits {
  const isVendor = provider === "OpenAI" || provider === "AzureOpenAI";
  const name = bareModelName(model);
  const known = table.find(([pattern]) => pattern.test(name))?.[1];
  const { takesVerbosity, takesCustomTools } = openAIAbilities(name);
  return {
    ...(known ?? (isVendor ? unknownOfVendor : compatible)),
    takesVerbosity,
    takesCustomTools: isVendor && takesCustomTools,
    outputCapMin: isVendor ? vendorOutputCapMin : 1,
  };
}

const strength: readonly (Effort | "none")[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** The effort that the model knows nearest to the wanted one: the next stronger of the weak ones, else the strongest. */
export function knownEffort(wanted: Effort, traits: ModelTraits): Effort | undefined {
  const thinking = traits.efforts.filter((effort) => effort !== "none");
  const rank = strength.indexOf(wanted);
  return thinking.find((effort) => strength.indexOf(effort) >= rank) ?? thinking.at(-1);
}

/** How to ask for no thinking: `none`, else the weakest effort (section 6.1). */
export function weakestEffort(traits: ModelTraits): Effort | "none" | undefined {
  return traits.efforts[0];
}
