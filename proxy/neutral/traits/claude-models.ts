/**
 * Knows what Claude's models accept behind the messages API (docs/design/messages.md 2, 3, 5, 6 and 10).
 *
 * Names are read loosely, because resellers wrap them (`anthropic.claude-…-v1:0`, `claude-…@20250929`), and are
 * compared as `FAMILY-MAJOR.MINOR`: `claude-3-5-sonnet-latest` is `sonnet-3.5`. To add a model, put a row above the
 * first one whose pattern fits its name, and state only what differs from the traits that it spreads; the comment
 * behind it names the rule's source. The first match counts. A channel states the traits of names of its own
 * (`models[].traits`). Unknown models of the vendor itself behave as its newest; unknown models of compatible servers
 * get only what the oldest form of the API had.
 */

import type { Effort } from "#proxy/neutral/conversation";
import { providerOf } from "#proxy/providers/providers";
import { memoiseTraits } from "./memoise-traits.ts";
import { knownName, type StatedTraits, statedTraits } from "./stated-traits.ts";

export interface ClaudeTraits {
  /** How thinking is asked for: not at all, by a budget of tokens, or by effort (`adaptive`). */
  readonly thinking: "none" | "manual" | "adaptive";
  /** Efforts that `output_config.effort` takes, weakest first; with `adaptive` thinking only. */
  readonly efforts: readonly Effort[];
  /** Whether thinking can be switched off; a model that always thinks is asked for little of it. */
  readonly canStopThinking: boolean;
  /** Whether a call of a tool may be forced (`tool_choice` of type `any` or `tool`). */
  readonly takesForcedTools: boolean;
  /** Whether it takes temperature, top_p and top_k of its caller's choice. */
  readonly takesSampling: boolean;
  /** Whether it takes temperature and top_p together. */
  readonly takesBothSampling: boolean;
  /** Whether it continues a last message of the assistant. */
  readonly continuesPrefill: boolean;
  /** Whether it takes system turns behind the first one. */
  readonly takesLaterSystem: boolean;
  /** Whether it takes `output_config.format`. */
  readonly keepsSchemas: boolean;
  /** Largest `max_tokens`; undefined when nobody knows. */
  readonly outputTokensMax: number | undefined;
  /** Whether `cache_control` may name a time to live, and provider-run tools and service tiers exist. */
  readonly isVendor: boolean;
}

const generation5: ClaudeTraits = {
  thinking: "adaptive",
  efforts: ["low", "medium", "high", "xhigh", "max"],
  canStopThinking: true,
  takesForcedTools: true,
  takesSampling: false,
  takesBothSampling: false,
  continuesPrefill: false,
  takesLaterSystem: true,
  keepsSchemas: true,
  outputTokensMax: 128_000,
  isVendor: true,
};

/** These always think, and choose their tools themselves. */
const newest: ClaudeTraits = { ...generation5, canStopThinking: false, takesForcedTools: false };

const generation47: ClaudeTraits = { ...generation5, takesLaterSystem: false };
const generation46: ClaudeTraits = { ...generation47, efforts: ["low", "medium", "high", "max"], takesSampling: true };
const generation45: ClaudeTraits = {
  ...generation46,
  thinking: "manual",
  efforts: [],
  continuesPrefill: true,
  outputTokensMax: 64_000,
};
const generation4: ClaudeTraits = { ...generation45, keepsSchemas: false };
const generation37: ClaudeTraits = { ...generation4, takesBothSampling: true };
const generation35: ClaudeTraits = { ...generation37, thinking: "none", outputTokensMax: 8192 };

const models: readonly (readonly [name: RegExp, model: ClaudeTraits])[] = [
  // Forced tools and `thinking: disabled` are 400s (litellm: supports_forced_tool_use, thinking_always_on; langchain-anthropic:
  // _supports_forced_tool_choice; @ai-sdk/anthropic 4.0.60, release notes).
  [/^(?:opus|sonnet)-5\.(?:[5-9]|\d\d)$/, newest],
  [/^(?:opus|sonnet)-(?:[6-9]|\d\d)\./, newest],
  [/^(?:fable|mythos)-5\.0$/, { ...newest, takesForcedTools: true }],
  [/^(?:fable|mythos)/, newest],
  [/-(?:[5-9]|\d\d)\./, generation5],
  [/-4\.(?:[89]|\d\d)$/, generation5],
  [/-4\.7$/, generation47],
  [/-4\.6$/, generation46],
  [/-4\.5$/, generation45],
  [/^opus-4\.[1-4]$/, { ...generation45, outputTokensMax: 32_000 }],
  [/^opus-4\./, { ...generation4, outputTokensMax: 32_000 }],
  [/-4\./, generation4],
  [/-3\.[7-9]$/, generation37],
  [/-3\.[56]$/, generation35],
  [/./, { ...generation35, outputTokensMax: 4096 }],
];

/** Sent nothing less than what the client asked for, unless another form is as good. */
const unknownOfVendor: ClaudeTraits = {
  ...newest,
  takesForcedTools: true,
  takesLaterSystem: false,
  outputTokensMax: undefined,
};

const compatible: ClaudeTraits = {
  thinking: "manual",
  efforts: [],
  canStopThinking: true,
  takesForcedTools: true,
  takesSampling: true,
  takesBothSampling: true,
  continuesPrefill: true,
  takesLaterSystem: false,
  keepsSchemas: false,
  outputTokensMax: undefined,
  isVendor: false,
};

/** Worked out once for a model on a channel. */
export const claudeTraitsOf = memoiseTraits((target): ClaudeTraits => {
  const isVendor = providerOf(target.channel).vendor === "Anthropic";
  const name = familyAndVersion(knownName(target).toLowerCase());
  const known = name === undefined ? undefined : models.find(([pattern]) => pattern.test(name))?.[1];
  const traits = withStated(known ?? (isVendor ? unknownOfVendor : compatible), statedTraits(target));
  return isVendor ? traits : { ...traits, isVendor, takesLaterSystem: false };
});

/**
 * The family and its version, `opus-4.6`. Dates behind the name are none. Families without a number of their own are
 * their newest.
 */
function familyAndVersion(name: string): string | undefined {
  const match =
    /\b(fable|mythos)(?:-(\d{1,2})(?:[-.](\d{1,2}))?)?(?!\d)/.exec(name) ??
    /claude-(opus|sonnet|haiku)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(name);
  if (match !== null) return match[2] === undefined ? match[1] : `${match[1]}-${match[2]}.${Number(match[3] ?? 0)}`;
  const older = /claude-(\d)(?:[-.](\d))?-(opus|sonnet|haiku)/.exec(name);
  if (older !== null) return `${older[3]}-${older[1]}.${older[2] ?? 0}`;
  return /claude-(?:2|instant)/.test(name) ? "claude-2" : undefined;
}

/** The same with what the channel says of the model. */
function withStated(
  model: ClaudeTraits,
  { thinking, maxOutputTokens, sampling, forcedTools }: StatedTraits,
): ClaudeTraits {
  const steered = model.thinking === "none" ? "manual" : model.thinking;
  return {
    ...model,
    outputTokensMax: maxOutputTokens ?? model.outputTokensMax,
    ...(sampling === undefined ? {} : { takesSampling: sampling === "Accepted" }),
    ...(forcedTools === undefined ? {} : { takesForcedTools: forcedTools === "Accepted" }),
    ...(thinking === undefined
      ? {}
      : { thinking: thinking === "None" ? "none" : steered, canStopThinking: thinking !== "Always" }),
  };
}

/** Where neither the client nor anybody else says how long a reply may be. */
export const outputTokensDefault = 8192;

const strength: readonly Effort[] = ["minimal", "low", "medium", "high", "xhigh", "max"];

/** The effort that the model knows nearest to the wanted one: the next stronger, else its strongest. */
export function claudeEffort(wanted: Effort, { efforts }: ClaudeTraits): Effort | undefined {
  const rank = strength.indexOf(wanted);
  return efforts.find((effort) => strength.indexOf(effort) >= rank) ?? efforts.at(-1);
}
