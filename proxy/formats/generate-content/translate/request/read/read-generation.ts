/**
 * Reads a client's generation parameters, in `generationConfig` or at the top level
 * (docs/design/generate-content.md 2 and 3.1).
 */
import { generationNames, snakeCase } from "#proxy/formats/generate-content/native/spellings";
import { asList, isObject, type JsonObject } from "#proxy/json/json-value";
import type { Conversation, Effort, OutputFormat, ReasoningOptions, Sampling } from "#proxy/neutral/conversation";
import { fromGoogleSchema } from "#proxy/neutral/schema/from-google-schema";
import { isStrictSchema } from "#proxy/neutral/schema/strict-schema";
import { either, enumName, notCarried, objectOf, textOf, unmappedMembers, wrongType, wrongValue } from "./members.ts";

/** Generation parameters with a neutral place. The rest is declared a loss. */
const readNames = new Set<string>([
  "responseFormat",
  ...generationNames.filter((name) => name !== "imageConfig" && name !== "mediaResolution"),
]);

export type Generation = Pick<
  Conversation,
  "sampling" | "outputCap" | "reasoning" | "outputFormat" | "modalities" | "audioOutput"
>;

/** @throws GatewayError naming the parameter */
export function readGeneration(body: JsonObject, unmapped: string[]): Generation {
  const config = objectOf(body, "generationConfig", "") ?? {};
  unmapped.push(...unmappedMembers(config, readNames, "generationConfig"));
  const parameters = new Parameters(body, config);
  for (const name of ["imageConfig", "mediaResolution"]) {
    const spelled = [name, snakeCase(name)].find((candidate) => body[candidate] !== undefined);
    if (spelled !== undefined) unmapped.push(spelled);
  }
  return {
    sampling: readSampling(parameters),
    outputCap: parameters.number("maxOutputTokens"),
    reasoning: readReasoning(parameters),
    outputFormat: readResponseFormat(config) ?? readOutputFormat(parameters),
    modalities: readModalities(parameters),
    audioOutput: readSpeech(parameters, unmapped),
  };
}

/** What stands in the config wins over what stands at the top level. */
class Parameters {
  readonly #body: JsonObject;
  readonly #config: JsonObject;

  constructor(body: JsonObject, config: JsonObject) {
    this.#body = body;
    this.#config = config;
  }

  value(name: string): unknown {
    return either(this.#config, name) ?? either(this.#body, name);
  }

  where(name: string): string {
    return either(this.#config, name) === undefined ? name : `generationConfig.${name}`;
  }

  number(name: string): number | undefined {
    const value = this.value(name);
    if (value === undefined || typeof value === "number") return value;
    // 64-bit integers may be texts.
    if (typeof value === "string" && /^-?\d{1,15}$/.test(value)) return Number(value);
    throw wrongType(this.where(name), "a number");
  }

  boolean(name: string): boolean | undefined {
    const value = this.value(name);
    if (value === undefined || typeof value === "boolean") return value;
    throw wrongType(this.where(name), "true or false");
  }

  object(name: string): JsonObject | undefined {
    const value = this.value(name);
    if (value === undefined || isObject(value)) return value;
    throw wrongType(this.where(name), "an object");
  }

  /** @param names of an enum's values by their numbers */
  texts(name: string, names: readonly string[] = []): readonly string[] | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    const listed: readonly unknown[] = Array.isArray(value) ? value : [value];
    const texts = names.length === 0 ? listed : listed.map((text) => enumName(text, names));
    if (texts.every((text) => typeof text === "string")) return texts;
    throw wrongType(this.where(name), "an array of strings");
  }
}

function readSampling(parameters: Parameters): Sampling {
  return {
    temperature: parameters.number("temperature"),
    topP: parameters.number("topP"),
    topK: parameters.number("topK"),
    seed: parameters.number("seed"),
    presencePenalty: parameters.number("presencePenalty"),
    frequencyPenalty: parameters.number("frequencyPenalty"),
    stop: parameters.texts("stopSequences"),
    candidates: parameters.number("candidateCount"),
    logprobs: parameters.boolean("responseLogprobs"),
    topLogprobs: parameters.number("logprobs"),
  };
}

/** Names by their numbers. */
const levels = ["THINKING_LEVEL_UNSPECIFIED", "LOW", "MEDIUM", "HIGH", "MINIMAL"] as const;
const modalityNames = ["MODALITY_UNSPECIFIED", "TEXT", "IMAGE", "AUDIO"] as const;

const effortByLevel: Readonly<Record<string, Effort>> = {
  MINIMAL: "minimal",
  LOW: "low",
  MEDIUM: "medium",
  HIGH: "high",
};

function readReasoning(parameters: Parameters): ReasoningOptions | undefined {
  const config = parameters.object("thinkingConfig");
  if (config === undefined) return undefined;
  const where = parameters.where("thinkingConfig");
  const show = either(config, "includeThoughts") === true;
  const level = enumName(either(config, "thinkingLevel"), levels);
  if (level !== undefined && level !== "THINKING_LEVEL_UNSPECIFIED") {
    if (typeof level !== "string") throw wrongType(`${where}.thinkingLevel`, "a string");
    const effort = effortByLevel[level.toUpperCase()];
    if (effort === undefined) throw wrongValue(`${where}.thinkingLevel`, "must be MINIMAL, LOW, MEDIUM or HIGH.");
    return { mode: "on", effort, show };
  }
  const budget = either(config, "thinkingBudget");
  if (budget === undefined) return show ? { mode: "auto", show } : undefined;
  if (typeof budget !== "number") throw wrongType(`${where}.thinkingBudget`, "an integer");
  if (budget === 0) return { mode: "off", show };
  return budget < 0 ? { mode: "auto", show } : { mode: "on", budget, show };
}

function readOutputFormat(parameters: Parameters): OutputFormat | undefined {
  const mime = parameters.texts("responseMimeType")?.[0] ?? "";
  const google = parameters.object("responseSchema");
  const schema = parameters.object("responseJsonSchema") ?? (google && fromGoogleSchema(google));
  const values = asList(schema?.["enum"]).filter((value) => typeof value === "string");
  if (mime === "text/x.enum" && values.length > 0) return { kind: "enum", values };
  if (schema !== undefined) return { kind: "schema", schema, strict: isStrictSchema(schema) };
  if (mime === "application/json") return { kind: "json" };
  if (mime === "" || mime === "text/plain") return undefined;
  throw wrongValue(parameters.where("responseMimeType"), "must be application/json or text/plain.");
}

/** What newer clients send in place of `responseMimeType` and its schema: one object, or a list of them. */
function readResponseFormat(config: JsonObject): OutputFormat | undefined {
  const where = "generationConfig.responseFormat";
  const value = either(config, "responseFormat");
  const [format, ...more] = Array.isArray(value) ? value : [value];
  if (format === undefined || format === null) return undefined;
  if (!isObject(format) || more.length > 0) throw wrongType(where, "an object");
  const [other] = unmappedMembers(format, new Set(["text"]), where);
  if (other !== undefined) throw notCarried(other);
  const text = objectOf(format, "text", where) ?? {};
  const schema = objectOf(text, "schema", `${where}.text`);
  if (schema !== undefined) return { kind: "schema", schema, strict: isStrictSchema(schema) };
  const mime = textOf(text, "mimeType", `${where}.text`);
  return mime === "APPLICATION_JSON" || mime === "application/json" ? { kind: "json" } : undefined;
}

function readModalities(parameters: Parameters): Conversation["modalities"] {
  return parameters.texts("responseModalities", modalityNames)?.flatMap((text, index) => {
    const modality = text.toLowerCase();
    if (modality === "modality_unspecified") return [];
    if (modality === "text" || modality === "image" || modality === "audio") return [modality];
    throw wrongValue(`${parameters.where("responseModalities")}[${index}]`, "must be TEXT, IMAGE or AUDIO.");
  });
}

/** Of speech without a voice nothing is left that another provider could be told. */
function readSpeech(parameters: Parameters, unmapped: string[]): Conversation["audioOutput"] {
  const config = parameters.object("speechConfig");
  if (config === undefined) return undefined;
  const where = parameters.where("speechConfig");
  if (either(config, "multiSpeakerVoiceConfig") !== undefined) throw notCarried(`${where}.multiSpeakerVoiceConfig`);
  unmapped.push(...unmappedMembers(config, new Set(["voiceConfig"]), where));
  const voiceConfig = objectOf(config, "voiceConfig", where) ?? {};
  unmapped.push(...unmappedMembers(voiceConfig, new Set(["prebuiltVoiceConfig"]), `${where}.voiceConfig`));
  const prebuilt = objectOf(voiceConfig, "prebuiltVoiceConfig", `${where}.voiceConfig`) ?? {};
  const voice = textOf(prebuilt, "voiceName", `${where}.voiceConfig.prebuiltVoiceConfig`);
  return voice === undefined || voice === "" ? undefined : { voice };
}
