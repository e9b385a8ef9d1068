/**
 * Lists the spellings that docs/design/interface.md 2.6 and docs/design/generate-content.md 2 accept for the members of
 * generateContent: lowerCamelCase and snake_case everywhere, generation parameters at the top level too. It is a closed
 * table, not a generic renaming: names inside schemas, arguments and labels are user data.
 */
import { GatewayError } from "#proxy/errors";
import { type FoundMember, findMemberBelow, removeAt } from "#proxy/formats/body/member-at";
import { presentMember } from "#proxy/formats/body/parameter-rules";
import type { ChatCall } from "#proxy/formats/format";
import type { BodyEditor } from "#proxy/json/body-editor";
import { type ScannedObject, scanMembers } from "#proxy/json/strict-json";

/** Members of generationConfig that clients also write at the top level. */
export const generationNames = [
  "temperature",
  "topP",
  "topK",
  "maxOutputTokens",
  "candidateCount",
  "stopSequences",
  "presencePenalty",
  "frequencyPenalty",
  "seed",
  "responseMimeType",
  "responseSchema",
  "responseJsonSchema",
  "responseModalities",
  "responseLogprobs",
  "logprobs",
  "thinkingConfig",
  "speechConfig",
  "imageConfig",
  "mediaResolution",
] as const;

/** Top-level members with two spellings. */
export const topLevelNames = [
  "systemInstruction",
  "generationConfig",
  "toolConfig",
  "safetySettings",
  "cachedContent",
  "serviceTier",
] as const;

/** The names are those of tables, a few dozen, and each call asks for nearly all of them. */
const snakeCases = new Map<string, string>();
const snakeCasesMax = 500;

/** `maxOutputTokens` as `max_output_tokens`. */
export function snakeCase(name: string): string {
  const known = snakeCases.get(name);
  if (known !== undefined) return known;
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (snakeCases.size < snakeCasesMax) snakeCases.set(name, snake);
  return snake;
}

/**
 * Finds a member under either spelling.
 * @throws GatewayError `invalid_value` when both are there: nobody could say which one counts
 */
export function findEither(object: ScannedObject, name: string, prefix = ""): FoundMember | undefined {
  const snake = snakeCase(name);
  const camelMember = presentMember(object, name);
  const snakeMember = snake === name ? undefined : presentMember(object, snake);
  if (camelMember !== undefined && snakeMember !== undefined) {
    const param = prefix + snake;
    throw new GatewayError("invalid_value", `'${param}' and '${prefix}${name}' are the same field: send one.`, {
      param,
    });
  }
  if (camelMember !== undefined) return { object, member: camelMember, name, param: prefix + name };
  if (snakeMember !== undefined) return { object, member: snakeMember, name: snake, param: prefix + snake };
  return undefined;
}

/** The generation parameters of a body, wherever they stand. What stands in `generationConfig` wins. */
export class GenerationMembers {
  readonly #body: ScannedObject;
  readonly #config: ScannedObject | undefined;
  readonly #prefix: string;

  /** @throws GatewayError `invalid_type` when the config is no object */
  constructor(body: ScannedObject) {
    this.#body = body;
    const found = findEither(body, "generationConfig");
    this.#prefix = `${found?.name ?? "generationConfig"}.`;
    if (found === undefined) return;
    if (found.member.kind !== "object") {
      throw new GatewayError("invalid_type", `'${found.name}' must be an object.`, { param: found.name });
    }
    this.#config = scanMembers(body.bytes, found.member.valueStart, found.member.valueEnd);
  }

  /** @param name in lowerCamelCase */
  find(name: string): FoundMember | undefined {
    const inConfig = this.#config === undefined ? undefined : findEither(this.#config, name, this.#prefix);
    return inConfig ?? findEither(this.#body, name);
  }
}

/**
 * Finds a member by its path (`CallFormat.findMember`), in either spelling; a parameter of generation wherever it stands,
 * also where the path says nothing of `generationConfig`.
 * @throws GatewayError `invalid_value` for one field under two spellings
 */
export function findMember({ body }: ChatCall, path: string): FoundMember | undefined {
  const steps = path.split(".").map(camelCase);
  const [first = "", ...rest] = steps[0] === "generationConfig" && steps.length > 1 ? steps.slice(1) : steps;
  const found = generationOf(body).find(first);
  return found === undefined || rest.length === 0 ? found : findMemberBelow(found, rest.join("."), findEither);
}

/** Members of one body are asked for by many names. */
const generations = new WeakMap<ScannedObject, GenerationMembers>();

function generationOf(body: ScannedObject): GenerationMembers {
  let generation = generations.get(body);
  if (generation === undefined) {
    generation = new GenerationMembers(body);
    generations.set(body, generation);
  }
  return generation;
}

/** Takes a member out of a body whose generation parameters stand in `generationConfig`, in either spelling. */
export function removeMember(editor: BodyEditor, path: string): void {
  const bare = path.replace(/^generation(?:Config|_config)\./, "");
  if (bare !== path || isGenerationName(camelCase(path))) removeAt(editor, `generationConfig.${bare}`, eitherSpelling);
  if (bare === path) removeAt(editor, path, eitherSpelling);
}

function isGenerationName(name: string): boolean {
  return generationNames.some((known) => known === name);
}

function eitherSpelling(name: string): string[] {
  return [...new Set([camelCase(name), snakeCase(name), name])];
}

/** `max_output_tokens` as `maxOutputTokens`. */
function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
