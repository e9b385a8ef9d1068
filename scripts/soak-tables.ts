/** The tables of the last soak, one file a suite in `test/bench/soak/`: what was tried for how long, and what it showed. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeMachine } from "./machine.ts";
import { projectRoot } from "./run.ts";
import type { EndedTest } from "./suites.ts";

export interface SoakRun {
  readonly suite: string;
  readonly tests: readonly EndedTest[];
  /** Names and values of the settings that say how long the cases were. */
  readonly lengths: Readonly<Record<string, string>>;
  /** Only some cases were run: they take the place of their own rows. */
  readonly isPart: boolean;
}

/** Writes the table of a run; one that broke before its first test leaves the kept one alone. */
export function writeSoakTable(run: SoakRun): void {
  if (run.tests.length === 0) return;
  const folder = join(projectRoot, "test", "bench", "soak");
  const file = join(folder, `${run.suite.replaceAll("/", "-")}.md`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, soakTable(run, existsSync(file) ? readFileSync(file, "utf8") : ""));
}

/** @param kept the table of the run before; empty when there is none @returns rows in the order in which tests ran */
export function soakTable({ suite, tests, lengths, isPart }: SoakRun, kept: string): string {
  const machine = describeMachine();
  const settings = Object.entries(lengths).map(([name, value]) => `\`${name}=${value}\``);
  const rows = new Map(isPart ? rowsOf(kept) : []);
  for (const test of tests) rows.set(cell(test.title), rowOf(test));
  return [
    `# Last run of \`npm run soak -- ${suite}\``,
    "",
    `${machine}. ${settings.join(", ")}.`,
    "",
    "| Case | Took | Verdict | Measured |",
    "| --- | --- | --- | --- |",
    ...rows.values(),
    "",
  ].join("\n");
}

function rowsOf(table: string): [title: string, row: string][] {
  const rows = table.split("\n").filter((line) => line.startsWith("| "));
  return rows.slice(2).map((row) => [row.slice(2, row.indexOf(" | ")), row]);
}

function rowOf({ title, tookMs, isPassed, figures }: EndedTest): string {
  return `| ${cell(title)} | ${tookOf(tookMs)} | ${isPassed ? "ok" : "FAILED"} | ${figures.map(cell).join("<br>")} |`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

function tookOf(milliseconds: number): string {
  const seconds = milliseconds / 1_000;
  return seconds < 120 ? `${seconds.toFixed(1)} s` : `${(seconds / 60).toFixed(1)} min`;
}
