/** Runs a library that reads replies, in a process of its own: some throw where no caller can catch it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type Cell, key } from "./clients-rig.ts";
import { nodePackages, pythonWithPackages } from "./installed-packages.ts";
import type { ReaderReport, ReaderTask } from "./readers/reader.ts";
import { clientEnvironment, describeRun, type ProgramRun, runProgram, withHome } from "./run-program.ts";

export interface Reader {
  readonly name: string;
  /** Model that it asks for. */
  readonly model: string;
  readonly language: "node" | "python";
  /** File among the readers. */
  readonly script: string;
  /** Behind the task. */
  readonly arguments: readonly string[];
}

export type ReaderWish = Pick<ReaderTask, "isStream" | "hasTool" | "isForced">;

const deadlineMs = 30_000;

/** What the library made of a cell's replies. @throws AssertionError when its process died before it could tell */
export async function readThrough(reader: Reader, cell: Cell, wish: ReaderWish): Promise<ReaderReport> {
  const run = await runReader(reader, cell, wish);
  assert.equal(run.status, 0, `${reader.name} died: ${describeRun(run)}`);
  const lines = run.stdout.trimEnd().split("\n");
  return JSON.parse(lines.at(-1) ?? "");
}

async function runReader(reader: Reader, cell: Cell, wish: ReaderWish): Promise<ProgramRun> {
  const isNode = reader.language === "node";
  const packages = isNode ? await nodePackages() : "";
  const command = isNode ? process.execPath : await pythonWithPackages();
  const task: ReaderTask = { origin: cell.origin, key, model: reader.model, ...wish, packages };
  const script = join(import.meta.dirname, "readers", reader.script);
  return await withHome((home) =>
    runProgram({
      command,
      arguments: [script, JSON.stringify(task), ...reader.arguments],
      folder: home,
      // LiteLLM else asks for its price list first.
      environment: clientEnvironment(home, { LITELLM_LOCAL_MODEL_COST_MAP: "True", PYTHONDONTWRITEBYTECODE: "1" }),
      deadlineMs,
    }),
  );
}
