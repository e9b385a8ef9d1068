/**
 * Knows what a model behind generateContent accepts (docs/design/generate-content.md 3.1 to 3.4, 8 and 9): a table by
 * patterns of model names.
 *
 * To add a model, put a row above the first one whose pattern fits its name, and state only what differs from the
 * traits that it spreads; the first match counts. A channel states the traits of names of its own (`models[].traits`).
 * Unknown models get the newest behaviour at the vendor's own providers, and the careful one at compatible servers.
 */
import { providerOf } from "#proxy/providers/providers";
import { memoiseTraits } from "./memoise-traits.ts";
import { knownName, type StatedTraits, statedTraits } from "./stated-traits.ts";

export interface GeminiTraits {
  /** How thinking is steered; `none` for models that have no such member. */
  readonly thinking: "level" | "budget" | "none";
  /** The level that comes nearest to not thinking, and what stands for `minimal`. */
  readonly lowestLevel: "MINIMAL" | "LOW";
  readonly hasMediumLevel: boolean;
  /** A budget of 0 switches thinking off. */
  readonly canSwitchOff: boolean;
  /** Smallest and largest budget of thinking, in tokens. */
  readonly budgetMin: number;
  readonly budgetMax: number;
  /** Takes `parametersJsonSchema` and `responseJsonSchema`. */
  readonly takesJsonSchema: boolean;
  /** Takes the mode `VALIDATED` of function calling. */
  readonly takesValidatedMode: boolean;
  /**
   * Built-in tools and functions may stand in one request, if the request asks for what the built-in ones did and brings
   * it back (ai.google.dev, Tool combination): a field that Vertex AI does not have, and ids of calls beside it.
   */
  readonly mixesBuiltInTools: boolean;
  /** Results carry their images themselves (`functionResponse.parts`), and nothing may stand beside results. */
  readonly takesResultParts: boolean;
  /** Refuses a call of the current turn whose step has no thought signature. */
  readonly checksSignatures: boolean;
  readonly takesSystemInstruction: boolean;
  /** Output kinds the model must be asked for by name. */
  readonly defaultModalities?: readonly string[] | undefined;
  /** Ids may stand in calls and results. */
  readonly takesCallIds: boolean;
  /** Largest `maxOutputTokens`; undefined when nobody knows. */
  readonly outputTokensMax: number | undefined;
  /** Takes temperature, topP and topK of its caller's choice. */
  readonly takesSampling: boolean;
  /** Whether a call of a function may be forced. */
  readonly takesForcedTools: boolean;
}

const newest: GeminiTraits = {
  thinking: "level",
  lowestLevel: "LOW",
  hasMediumLevel: true,
  canSwitchOff: true,
  budgetMin: 1,
  budgetMax: 24_576,
  takesJsonSchema: true,
  takesValidatedMode: true,
  mixesBuiltInTools: true,
  takesResultParts: true,
  checksSignatures: true,
  takesSystemInstruction: true,
  takesCallIds: true,
  outputTokensMax: 65_536,
  takesSampling: true,
  takesForcedTools: true,
};

const generation25: GeminiTraits = {
  ...newest,
  thinking: "budget",
  mixesBuiltInTools: false,
  takesResultParts: false,
  checksSignatures: false,
};

const older: GeminiTraits = {
  ...generation25,
  thinking: "none",
  takesJsonSchema: false,
  takesValidatedMode: false,
  outputTokensMax: 8192,
};

/** For compatible servers: a budget is read by models of both generations, and so is the OpenAPI schema. */
const careful: GeminiTraits = { ...older, thinking: "budget", outputTokensMax: undefined };

const flashLevels = { lowestLevel: "MINIMAL" } as const;
const imageOutput = { defaultModalities: ["TEXT", "IMAGE"] } as const;
const speechOutput = { defaultModalities: ["AUDIO"], takesSystemInstruction: false } as const;

const models: readonly (readonly [RegExp, GeminiTraits])[] = [
  [/^gemma-/, { ...older, takesSystemInstruction: false }],
  [/^gemini-(?:1|2\.0).*-image/, { ...older, ...imageOutput }],
  [/^gemini-(?:1|2\.0)/, older],
  [/^gemini-2\.5.*-image/, { ...generation25, thinking: "none", ...imageOutput, outputTokensMax: 32_768 }],
  [/^gemini-2\.5.*-tts/, { ...generation25, thinking: "none", ...speechOutput, outputTokensMax: undefined }],
  [/^gemini-2\.5-pro/, { ...generation25, canSwitchOff: false, budgetMin: 128, budgetMax: 32_768 }],
  [/^gemini-2\.5-flash-lite/, { ...generation25, budgetMin: 512 }],
  [/^gemini-2\.5/, generation25],
  [/^gemini-.*-image/, { ...newest, ...imageOutput, outputTokensMax: 32_768 }],
  [/^gemini-.*-tts/, { ...newest, thinking: "none", ...speechOutput, outputTokensMax: undefined }],
  [/^gemini-3(?:\.0)?-pro/, { ...newest, hasMediumLevel: false }],
  [/^gemini-3(?:\.[0-6])?-flash/, { ...newest, ...flashLevels }],
  [/^gemini-/, newest],
];

/** @param target only its channel and its model are looked at */
export const geminiTraitsOf = memoiseTraits((target): GeminiTraits => {
  const { vendor, takesCallIds, mixesBuiltInTools } = providerOf(target.channel);
  const name = knownName(target).replace(/^.*\//, "").toLowerCase();
  const known = models.find(([pattern]) => pattern.test(name))?.[1];
  const unknown = vendor !== "Google" ? careful : { ...newest, outputTokensMax: undefined };
  const traits = known ?? unknown;
  const limited = {
    ...traits,
    takesCallIds: takesCallIds && traits.takesCallIds,
    mixesBuiltInTools: mixesBuiltInTools && traits.mixesBuiltInTools,
  };
  return withStated(limited, statedTraits(target));
});

/** The same with what the channel says of the model. */
function withStated(model: GeminiTraits, stated: StatedTraits): GeminiTraits {
  const { thinking, maxOutputTokens, sampling, forcedTools, hostedToolsWithFunctions } = stated;
  const steered = model.thinking === "none" ? "budget" : model.thinking;
  return {
    ...model,
    outputTokensMax: maxOutputTokens ?? model.outputTokensMax,
    ...(sampling === undefined ? {} : { takesSampling: sampling === "Accepted" }),
    ...(forcedTools === undefined ? {} : { takesForcedTools: forcedTools === "Accepted" }),
    ...(hostedToolsWithFunctions === undefined ? {} : { mixesBuiltInTools: hostedToolsWithFunctions === "Accepted" }),
    ...(thinking === undefined
      ? {}
      : { thinking: thinking === "None" ? "none" : steered, canSwitchOff: thinking === "Optional" }),
  };
}
