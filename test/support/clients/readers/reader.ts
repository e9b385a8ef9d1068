/** What every reader is asked and reports: one JSON argument, one JSON line on standard output. */
import { createRequire } from "node:module";
import { join } from "node:path";

export interface ReaderTask {
  /** Of the gateway, without a path. */
  readonly origin: string;
  readonly key: string;
  readonly model: string;
  readonly isStream: boolean;
  /** Whether the function `step` is offered. */
  readonly hasTool: boolean;
  /** Whether the model has to call it in the first turn, without thinking first; of the AI SDK only. */
  readonly isForced?: boolean;
  /** Folder whose `node_modules` hold the packages. */
  readonly packages: string;
}

export interface ReaderReport {
  /** Text of the last turn, as far as it came. */
  readonly text: string;
  /** What the library threw; absent when it threw nothing. */
  readonly error?: string;
  /** Texts of the error parts of a stream, for libraries that have such. */
  readonly errorParts?: readonly string[];
  /** Output tokens that the library read of the last turn. */
  readonly outputTokens?: number;
}

/** The only function that readers offer: it says which word it was given. */
export const stepTool = {
  name: "step",
  description: "Does a step",
  schema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
} as const;

export function stepResult(word: unknown): string {
  return `did ${String(word)}`;
}

export const question = "Take three steps.";

/** A conversation takes three turns; one that does not end is a fault. */
export const turnsMax = 6;

/** Runs the reader of this process and reports. A throw of the library itself is part of the report. */
export async function report(
  read: (task: ReaderTask, load: NodeJS.Require, told: { text: string }) => Promise<Omit<ReaderReport, "text">>,
): Promise<void> {
  const task: ReaderTask = JSON.parse(process.argv[2] ?? "");
  const load = createRequire(join(task.packages, "package.json"));
  const told = { text: "" };
  let more: Omit<ReaderReport, "text">;
  try {
    more = await read(task, load, told);
  } catch (error) {
    more = { error: String(error) };
  }
  process.stdout.write(`${JSON.stringify({ ...told, ...more })}\n`);
}
