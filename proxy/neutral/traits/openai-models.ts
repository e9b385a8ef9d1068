/**
 * Knows what OpenAI's models accept, in either of its two formats: both translators ask here, so that a model gets the
 * same treatment in both (docs/design/chat-completions.md 2).
 *
 * To add a model, put a row above the first one whose pattern fits its name, and state only what differs from the
 * traits that it spreads; the comment behind it names the rule's source. The first match counts. `chat-traits.ts` and
 * `responses-traits.ts` decide about names that match no row; a channel states the traits of names of its own
 * (`models[].traits`).
 */
import type { Effort } from "#proxy/neutral/conversation";
import type { StatedTraits } from "./stated-traits.ts";

export interface OpenAIModel {
  /** Efforts it knows, from least to most, `none` for off; empty when it does not think at all. */
  readonly efforts: readonly (Effort | "none")[];
  /** Temperature, `top_p` and log probabilities: taken always, never, or only while it does not think. */
  readonly sampling: "always" | "never" | "without-thinking";
  readonly takesStop: boolean;
  /** Takes `json_schema` for its output. */
  readonly takesSchema: boolean;
  /** Accepts a verbosity: short or long output. */
  readonly takesVerbosity: boolean;
  /** Takes tools with free text. */
  readonly takesCustomTools: boolean;
  /** Searches by `web_search_options` of chat completions. */
  readonly takesSearchOptions: boolean;
  /**
   * Functions on chat completions: taken with any effort, only where no effort is named, or only with the effort `none`
   * (then the model thinks when nothing is said). Responses takes them always.
   */
  readonly toolsOnChat: "with-effort" | "without-effort" | "with-effort-none";
  /** Most output tokens, thinking included; undefined when nobody knows. */
  readonly outputTokensMax: number | undefined;
}

/** The newest generation, and those after it. */
const newest: OpenAIModel = {
  efforts: ["none", "low", "medium", "high", "xhigh", "max"],
  sampling: "without-thinking",
  takesStop: false,
  takesSchema: true,
  takesVerbosity: true,
  takesCustomTools: true,
  takesSearchOptions: false,
  toolsOnChat: "with-effort-none",
  outputTokensMax: 128_000,
};

const generation54: OpenAIModel = {
  ...newest,
  efforts: ["none", "low", "medium", "high", "xhigh"],
  toolsOnChat: "without-effort",
};
const generation52: OpenAIModel = { ...generation54, toolsOnChat: "with-effort" };
const generation51: OpenAIModel = { ...generation52, efforts: ["none", "low", "medium", "high"] };
/** These cannot stop thinking. */
const generation5: OpenAIModel = { ...generation52, efforts: ["minimal", "low", "medium", "high"], sampling: "never" };
const codex5: OpenAIModel = { ...generation5, efforts: ["low", "medium", "high"] };
const thinkers: OpenAIModel = { ...codex5, takesVerbosity: false, takesCustomTools: false, outputTokensMax: 100_000 };
/** Models that do not think. */
const talkers: OpenAIModel = { ...thinkers, efforts: [], sampling: "always", takesStop: true, outputTokensMax: 16_384 };
const searchers: OpenAIModel = { ...talkers, takesSearchOptions: true, sampling: "never" };

/** Caps: the model pages of platform.openai.com/docs/models; beyond them the provider refuses with 400. */
const models: readonly (readonly [name: RegExp, model: OpenAIModel])[] = [
  [/^gpt-4o.*-search(?:-|$)/, searchers],
  [/-search(?:-|$)/, { ...searchers, outputTokensMax: undefined }],
  [/^gpt-5[\w.]*-chat/, { ...talkers, takesCustomTools: true }],
  [/^gpt-5-pro/, { ...generation5, efforts: ["high"], outputTokensMax: 272_000 }],
  [/^gpt-5-codex/, codex5],
  [/^gpt-5(?:-|$)/, generation5],
  [/^gpt-5\.1-codex-max/, { ...generation51, efforts: generation52.efforts }],
  [/^gpt-5\.1(?!\d)/, generation51],
  // Some say that 5.2 refuses functions with an effort as 5.4 does; most calls of that kind are served, and thinking is
  // not given up for a maybe. Where it is so, the channel says `toolsWithThinking: Refused`.
  [/^gpt-5\.[23](?!\d)/, generation52],
  // "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions."
  [/^gpt-5\.4(?!\d)/, generation54],
  // They think by themselves, so that functions are refused without a word on thinking as well.
  [/^gpt-5\.\d/, newest],
  [/^gpt-(?:[6-9]|\d\d)/, { ...newest, outputTokensMax: undefined }],
  [/^gpt-oss/, { ...thinkers, sampling: "always", takesStop: true, takesVerbosity: true, outputTokensMax: undefined }],
  [/^codex/, { ...thinkers, takesCustomTools: true }],
  [/^o1-preview/, { ...thinkers, outputTokensMax: 32_768 }],
  [/^o1-mini/, { ...thinkers, outputTokensMax: 65_536 }],
  [/^o\d/, thinkers],
  [/^gpt-4\.1/, { ...talkers, outputTokensMax: 32_768 }],
  [/^gpt-4o-2024-05-13/, { ...talkers, outputTokensMax: 4096 }],
  [/^(?:gpt-4o|gpt-4\.|chatgpt-4o)/, talkers],
  [/^gpt-4-32k/, { ...talkers, takesSchema: false, outputTokensMax: undefined }],
  [/^gpt-4(?:-\d{4})?$/, { ...talkers, takesSchema: false, outputTokensMax: 8192 }],
  [/^gpt-4-/, { ...talkers, takesSchema: false, outputTokensMax: 4096 }],
  [/^gpt-3\.5/, { ...talkers, takesSchema: false, outputTokensMax: 4096 }],
  [/^(?:gpt-[34]|chatgpt-|davinci|babbage)/, { ...talkers, outputTokensMax: undefined }],
];

/** A model of OpenAI's that no row fits: the newest, but sent nothing less than what the client asked for. */
export const unknownOpenAIModel: OpenAIModel = {
  ...generation52,
  sampling: "always",
  takesStop: true,
  outputTokensMax: undefined,
};

/** @returns undefined for a name that no row fits */
export function openAIModel(name: string): OpenAIModel | undefined {
  const bare = bareModelName(name);
  return models.find(([pattern]) => pattern.test(bare))?.[1];
}

/** The same with what the channel says of it. */
export function withStated<Model extends OpenAIModel>(
  model: Model,
  { maxOutputTokens, thinking, sampling, toolsWithThinking }: StatedTraits,
): Model {
  const efforts = statedEfforts(model.efforts, thinking);
  const refusesTools = efforts.includes("none") ? "with-effort-none" : "without-effort";
  return {
    ...model,
    efforts,
    outputTokensMax: maxOutputTokens ?? model.outputTokensMax,
    ...(sampling === undefined ? {} : { sampling: sampling === "Accepted" ? "always" : "never" }),
    ...(toolsWithThinking === undefined
      ? {}
      : { toolsOnChat: toolsWithThinking === "Accepted" ? "with-effort" : refusesTools }),
  };
}

function statedEfforts(efforts: OpenAIModel["efforts"], thinking: StatedTraits["thinking"]): OpenAIModel["efforts"] {
  if (thinking === undefined) return efforts;
  if (thinking === "None") return [];
  const known = efforts.length > 0 ? efforts : codex5.efforts;
  const thoughtful = known.filter((effort) => effort !== "none");
  return thinking === "Always" ? thoughtful : ["none", ...thoughtful];
}

/** Resellers put the vendor before the name, fine-tuned models have `ft:`. */
export function bareModelName(model: string): string {
  return model
    .slice(model.lastIndexOf("/") + 1)
    .toLowerCase()
    .replace(/^ft:/, "");
}
