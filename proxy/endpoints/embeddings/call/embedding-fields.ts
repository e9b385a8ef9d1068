/** The names of what a call for vectors says beside its inputs, which each vendor calls otherwise: the one table of them. */
import type { Spellings } from "#proxy/parameters/member-rules";

export type FieldMeaning = "dimensions" | "task" | "truncate" | "user" | "other";

/** Google reads both writings of its own names, the usual one first. */
export const dimensionNames = ["outputDimensionality", "output_dimensionality"] as const;
const taskNames = ["taskType", "task_type"] as const;

const namesByMeaning: Readonly<Record<Exclude<FieldMeaning, "other">, readonly string[]>> = {
  dimensions: ["dimensions", "output_dimension", ...dimensionNames],
  task: ["input_type", "task", ...taskNames],
  truncate: ["truncate", "truncation"],
  user: ["user"],
};

/** Tasks are other words at each vendor, and truncation is a flag or an end: neither is held against another's values. */
export const embeddingSpellings: Spellings = [
  { names: namesByMeaning.dimensions, isAlike: true },
  { names: namesByMeaning.task, isAlike: false },
  { names: namesByMeaning.truncate, isAlike: false },
  { names: ["encoding_format", "embedding_type"], isAlike: true },
];

const meanings = new Map<string, FieldMeaning>();
for (const meaning of ["dimensions", "task", "truncate", "user"] as const) {
  for (const name of namesByMeaning[meaning]) meanings.set(name, meaning);
}

/** What the meaning of a field is, whichever vendor spelled it. */
export function meaningOf(name: string): FieldMeaning {
  return meanings.get(name) ?? "other";
}
