/**
 * Translates the name of a parameter between formats: a route's `parameters[]` name a field as the interface spells it
 * in any format, and apply to clients of every format (docs/design/interface.md 2.2 to 2.6).
 *
 * The translators' `fieldNames` hold the name of each field in each format. This file adds what they leave out: second
 * spellings, parts of fields, and which fields hold values that mean the same everywhere. A name in neither is a
 * vendor's own and is looked up unchanged.
 */

import { type NeutralField, neutralFields } from "#proxy/neutral/losses/neutral-fields";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { clientTranslators } from "#proxy/translate/translators";

type Paths = Readonly<Record<ChatWireFormat, readonly string[]>>;

/** Where bodies of each format have what a route calls by one name. */
export interface ParameterNames {
  /** Members whose value can be held against the route's. */
  readonly values: Paths;
  /** Members that are the parameter: what a model that does not support it must not get. */
  readonly members: Paths;
  /** Members from which a translation may derive the parameter. */
  readonly derivedFrom: Paths;
}

const formats = ["ChatCompletions", "Responses", "Messages", "GenerateContent"] as const;

/** Fields that are said in every format by the same values: a range of one is a range of all. */
const alike: ReadonlySet<NeutralField> = new Set([
  ...(["temperature", "topP", "topK", "seed", "presencePenalty", "frequencyPenalty", "candidates"] as const),
  ...(["topLogprobs", "outputCap", "verbosity", "user", "safetyIdentifier", "store", "serviceTier"] as const),
]);

/** Fields inside of lists: no path leads to them. */
const withoutPath: ReadonlySet<NeutralField> = new Set(["mediaDetail", "cacheMarks"]);

/** Second spellings of a format. */
const others: Partial<Record<NeutralField, Partial<Paths>>> = {
  outputCap: { ChatCompletions: ["max_tokens"] },
  reasoning: { ChatCompletions: ["reasoning", "thinking", "enable_thinking", "thinking_budget"] },
  outputFormat: { GenerateContent: ["generationConfig.responseSchema", "generationConfig.responseJsonSchema"] },
};

/** Parts of a field that a route may mean alone. */
const parts: readonly { readonly of: NeutralField; readonly paths: Paths }[] = [
  {
    of: "reasoning",
    paths: {
      ChatCompletions: ["reasoning_effort", "reasoning.effort"],
      Responses: ["reasoning.effort"],
      Messages: ["output_config.effort"],
      GenerateContent: ["generationConfig.thinkingConfig.thinkingLevel"],
    },
  },
  {
    of: "reasoning",
    paths: {
      ChatCompletions: ["thinking.budget_tokens", "reasoning.max_tokens", "thinking_budget"],
      Responses: [],
      Messages: ["thinking.budget_tokens"],
      GenerateContent: ["generationConfig.thinkingConfig.thinkingBudget"],
    },
  },
];

interface Row {
  readonly paths: Paths;
  readonly derivedFrom: Paths;
  readonly isAlike: boolean;
  /** Names of which a model may refuse one and take the others. */
  readonly apart: ReadonlySet<string>;
}

function everyFormat(pathsOf: (format: ChatWireFormat) => readonly string[]): Paths {
  return {
    ChatCompletions: pathsOf("ChatCompletions"),
    Responses: pathsOf("Responses"),
    Messages: pathsOf("Messages"),
    GenerateContent: pathsOf("GenerateContent"),
  };
}

function fieldPaths(field: NeutralField): Paths {
  return everyFormat((format) => {
    // Responses asks for them by a word in a list.
    if (field === "logprobs" && format === "Responses") return [];
    return [clientTranslators[format].fieldNames[field], ...(others[field]?.[format] ?? [])];
  });
}

/** Vendors' own spellings: that a model does not know one says nothing of the usual ones. */
function apartIn(field: NeutralField): ReadonlySet<string> {
  return new Set(Object.values(others[field] ?? {}).flat());
}

const rows: readonly Row[] = [
  ...parts.map(({ of, paths }) => ({ paths, derivedFrom: fieldPaths(of), isAlike: true, apart: apartIn(of) })),
  ...neutralFields
    .filter((field) => !withoutPath.has(field))
    .map((field) => {
      const paths = fieldPaths(field);
      const apart = field === "outputCap" ? new Set(formats.flatMap((format) => paths[format])) : apartIn(field);
      return { paths, derivedFrom: paths, isAlike: alike.has(field), apart };
    }),
];

/** A name without its place and its writing: `generationConfig.topP`, `topP` and `top_p` are one. */
function plain(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/^generation_config\./, "");
}

/** Names as they are written come before the same names written otherwise, and parts before the whole. */
const index = new Map<string, Row>();
for (const written of [(name: string) => name, plain]) {
  for (const row of rows) {
    for (const format of formats) {
      for (const path of row.paths[format]) if (!index.has(written(path))) index.set(written(path), row);
    }
  }
}

/** @param name of a route's parameter, spelled as in any of the formats */
export function parameterNames(name: string): ParameterNames {
  const row = index.get(name) ?? index.get(plain(name));
  const itself = everyFormat(() => [name]);
  if (row === undefined) return { values: itself, members: itself, derivedFrom: itself };
  const isApart = [...row.apart].some((path) => path === name || plain(path) === plain(name));
  const withItself = (paths: Paths): Paths => everyFormat((format) => [...new Set([...paths[format], name])]);
  const alone = (paths: Paths): Paths =>
    everyFormat((format) => paths[format].filter((path) => path === name || plain(path) === plain(name)));
  return {
    values: row.isAlike ? withItself(row.paths) : itself,
    members: isApart ? alone(row.paths) : withItself(row.paths),
    derivedFrom: withItself(row.derivedFrom),
  };
}
