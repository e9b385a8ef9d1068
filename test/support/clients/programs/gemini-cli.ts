/** Gemini CLI, which speaks generateContent through the library in its bundle. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { member, text } from "#examples/demo-upstream/json-view";
import { key, models } from "#test/support/clients/clients-rig";
import { nodePackages } from "#test/support/clients/installed-packages";
import { clientEnvironment, runProgram, withHome } from "#test/support/clients/run-program";
import { type Agent, type AgentRun, agentDeadlineMs, agentPrompt } from "./program.ts";

export const geminiCli: Agent = {
  name: "Gemini CLI",
  call: (word) => ({ name: "run_shell_command", arguments: { command: `echo did ${word}` } }),
  run: (origin) => withHome((home) => runIn(home, origin)),
};

async function runIn(home: string, origin: string): Promise<AgentRun> {
  const packages = await nodePackages();
  await mkdir(join(home, ".gemini"));
  await writeFile(join(home, ".gemini", "settings.json"), JSON.stringify(settings));
  const run = await runProgram({
    command: process.execPath,
    arguments: [
      join(packages, "node_modules", "@google", "gemini-cli", "bundle", "gemini.js"),
      ...["--prompt", agentPrompt, "--model", models.gemini],
      ...["--yolo", "--skip-trust", "--output-format", "json"],
    ],
    folder: home,
    environment: clientEnvironment(home, { GOOGLE_GEMINI_BASE_URL: origin, GEMINI_API_KEY: key, NO_COLOR: "1" }),
    deadlineMs: agentDeadlineMs,
  });
  const report = jsonAtEnd(run.stdout) ?? jsonAtEnd(run.stderr);
  const error = text(member(member(report, "error"), "message"));
  return { run, text: text(member(report, "response")) ?? "", errors: error === undefined ? [] : [error] };
}

const settings = {
  security: { auth: { selectedType: "gemini-api-key" } },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
};

/** Its report begins on a line of its own, behind what else it may print. */
function jsonAtEnd(output: string): unknown {
  const start = output.startsWith("{") ? 0 : output.lastIndexOf("\n{\n") + 1;
  try {
    return JSON.parse(output.slice(start));
  } catch {
    return undefined;
  }
}
