/** The tables of the last soak, one file a suite in `test/bench/soak/`: what was tried for how long, and what it showed. */
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { projectRoot } from "./run.ts";
import type { EndedTest } from "./suites.ts";

/** @param lengths names and values of the settings that say how long the cases were */
export function writeSoakTable(suite: string, tests: readonly EndedTest[], lengths: Readonly<Record<string, string>>) {
  const folder = join(projectRoot, "test", "bench", "soak");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${suite.replaceAll("/", "-")}.md`), soakTable(suite, tests, lengths));
}

/** The text of one table, in the order in which the tests ran. */
export function soakTable(
  suite: string,
  tests: readonly EndedTest[],
  lengths: Readonly<Record<string, string>>,
): string {
  const machine = `${cpus().length} x ${cpus()[0]?.model ?? "CPU"}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;
  const settings = Object.entries(lengths).map(([name, value]) => `\`${name}=${value}\``);
  const rows = tests.map(
    ({ title, tookMs, isPassed, figures }) =>
      `| ${cell(title)} | ${tookOf(tookMs)} | ${isPassed ? "ok" : "FAILED"} | ${figures.map(cell).join("<br>")} |`,
  );
  return [
    `# Last run of \`npm run soak -- ${suite}\``,
    "",
    `${machine}. ${settings.join(", ")}.`,
    "",
    "| Case | Took | Verdict | Measured |",
    "| --- | --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

function tookOf(milliseconds: number): string {
  const seconds = milliseconds / 1_000;
  return seconds < 120 ? `${seconds.toFixed(1)} s` : `${(seconds / 60).toFixed(1)} min`;
}
