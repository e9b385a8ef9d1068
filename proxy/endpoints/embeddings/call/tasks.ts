/**
 * Translates what a vector is wanted for: vendors call the same few purposes by names of their own (PURE).
 *
 * Google's `taskType` (https://ai.google.dev/api/embeddings), Cohere's and Voyage's `input_type`, Jina's `task`.
 */
export type TaskVendor = "Google" | "Cohere" | "Voyage" | "Jina";

interface Task {
  readonly Google: string;
  readonly Cohere?: string;
  readonly Voyage?: string;
  readonly Jina?: string;
  /** How others call it. */
  readonly also?: readonly string[];
}

/** Of two tasks that a vendor calls by one name the first is meant. */
const tasks: readonly Task[] = [
  { Google: "RETRIEVAL_QUERY", Cohere: "search_query", Voyage: "query", Jina: "retrieval.query" },
  {
    Google: "RETRIEVAL_DOCUMENT",
    Cohere: "search_document",
    Voyage: "document",
    Jina: "retrieval.passage",
    also: ["passage", "code.passage"],
  },
  { Google: "SEMANTIC_SIMILARITY", Jina: "text-matching" },
  { Google: "CLASSIFICATION", Cohere: "classification", Jina: "classification" },
  { Google: "CLUSTERING", Cohere: "clustering", Jina: "separation" },
  { Google: "QUESTION_ANSWERING", Cohere: "search_query", Voyage: "query", Jina: "retrieval.query" },
  { Google: "FACT_VERIFICATION", Cohere: "search_query", Voyage: "query", Jina: "retrieval.query" },
  {
    Google: "CODE_RETRIEVAL_QUERY",
    Cohere: "search_query",
    Voyage: "query",
    Jina: "retrieval.query",
    also: ["code.query"],
  },
];

const byName = new Map<string, Task>();
for (const task of tasks) {
  for (const name of [task.Google, task.Cohere, task.Voyage, task.Jina, ...(task.also ?? [])]) {
    if (name !== undefined && !byName.has(name.toLowerCase())) byName.set(name.toLowerCase(), task);
  }
}

/** @returns the vendor's name for a task that any vendor names so; undefined where it has none */
export function taskFor(vendor: TaskVendor, name: unknown): string | undefined {
  return typeof name === "string" ? byName.get(name.toLowerCase())?.[vendor] : undefined;
}
