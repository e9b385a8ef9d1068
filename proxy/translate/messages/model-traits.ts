/**
 * What a model behind the messages API takes, by its name (`protocols/anthropic-messages.md` sections 2, 3, 5, 6 and 10).
 *
 * Names are matched loosely, because resellers wrap them (`anthropic.claude-…-v1:0`, `claude-…@20250929`). Unknown
 * models of the vendor itself behave as its newest; unknown models of compatible servers are sent nothing but what the
 * oldest form of the API had.
 */
import type { Channel } from "../../snapshot/types.gen.ts";
import type { Effort } from "../conversation.ts";
import { memoiseTraits } from "../memoise-traits.ts";

export interface ModelTraits {
  /** How thinking is asked for: not at all, by a budget of tokens, or by effort (`adaptive`). */
  readonly thinking: "none" | "manual" | "adaptive";
  /** Efforts that `output_config.effort` takes, weakest first; with `adaptive` thinking only. */
  readonly efforts: readonly Effort[];
  /** Whether thinking can be switched off; a model that always thinks is asked for little of it. */
  readonly canStopThinking: boolean;
  /** Whether it takes temperature, top_p and top_k of its caller's choice. */
  readonly takesSampling: boolean;
  /** Whether it takes temperature and top_p together. */
  readonly takesBothSampling: boolean;
  /** Whether it continues a last message of the assistant. */
  readonly continuesAnswers: boolean;
  /** Whether it takes system turns behind the first one. */
  readonly takesLaterSystem: boolean;
  /** Whether it takes `output_config.format`. */
  readonly keepsSchemas: boolean;
  /** Largest `max_tokens`; undefined when nobody knows. */
  readonly outputTokensMax: number | undefined;
  /** Whether `cache_control` may name a time to live, and provider-run tools and service tiers exist. */
  readonly isVendor: boolean;
}

const allEfforts = ["low", "medium", "high", "xhigh", "max"] as const;

/** The same, worked out once for a model on a channel. */
export const traitsOf = memoiseTraits(({ channel, upstreamModel }) => modelTraits(upstreamModel, channel.provider));

export function modelTraits(model: string, provider: Channel["provider"]): ModelTraits {
  const isVendor = provider === "Anthropic";
  const name = model.toLowerCase();
  const version = versionOf(name);
  if (version === undefined) return isVendor ? { ...ofVersion("", 99), takesLaterSystem: false } : compatible;
  const traits = ofVersion(name, version);
  return isVendor ? traits : { ...traits, isVendor, takesLaterSystem: false };
}

/**
 * The family's version as one number, 4.6 as 4.06: minor versions may grow beyond nine one day. Dates behind the name
 * are none. Families without a number of their own think adaptively, as the newest do.
 */
function versionOf(name: string): number | undefined {
  if (/\b(?:claude-)?(?:fable|mythos)\b/.test(name)) return 5;
  const match =
    /claude-(?:opus|sonnet|haiku)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(name) ??
    /claude-(\d)(?:[-.](\d))?-(?:opus|sonnet|haiku)/.exec(name);
  if (match === null) return /claude-(?:2|instant)/.test(name) ? 2 : undefined;
  return Number(match[1]) + Number(match[2] ?? 0) / 100;
}

function ofVersion(name: string, version: number): ModelTraits {
  const isAdaptive = version >= 4.06;
  return {
    thinking: isAdaptive ? "adaptive" : version >= 3.07 ? "manual" : "none",
    efforts: isAdaptive ? effortsOf(version) : [],
    canStopThinking: !/fable|mythos/.test(name),
    takesSampling: version < 4.07,
    takesBothSampling: version < 4,
    continuesAnswers: version < 4.06,
    takesLaterSystem: version >= 4.08,
    keepsSchemas: version >= 4.05 || (version >= 4.01 && name.includes("opus")),
    outputTokensMax: outputTokensMax(name, version),
    isVendor: true,
  };
}

/** 4.6 has no `xhigh` (`protocols/anthropic-messages.md` section 6). */
function effortsOf(version: number): readonly Effort[] {
  return version >= 4.07 ? allEfforts : ["low", "medium", "high", "max"];
}

function outputTokensMax(name: string, version: number): number | undefined {
  if (version >= 99) return undefined;
  if (version >= 4.06) return 128_000;
  if (version >= 4.05 || version === 3.07) return 64_000;
  if (version >= 4) return name.includes("opus") ? 32_000 : 64_000;
  return version >= 3.05 ? 8192 : 4096;
}

const compatible: ModelTraits = {
  thinking: "manual",
  efforts: [],
  canStopThinking: true,
  takesSampling: true,
  takesBothSampling: true,
  continuesAnswers: true,
  takesLaterSystem: false,
  keepsSchemas: false,
  outputTokensMax: undefined,
  isVendor: false,
};

/** Where neither the client nor anybody else says how long an answer may be. */
export const outputTokensDefault = 8192;

const strength: readonly Effort[] = ["minimal", "low", "medium", "high", "xhigh", "max"];

/** The effort that the model knows nearest to the wanted one: the next stronger, else its strongest. */
export function knownEffort(wanted: Effort, { efforts }: ModelTraits): Effort | undefined {
  const rank = strength.indexOf(wanted);
  return efforts.find((effort) => strength.indexOf(effort) >= rank) ?? efforts.at(-1);
}
