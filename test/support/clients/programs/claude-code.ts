/** Claude Code, which speaks messages. */
import { join } from "node:path";
import { member, text } from "#examples/demo-upstream/json-view";
import { key, models } from "#test/support/clients/clients-rig";
import { nodePackages } from "#test/support/clients/installed-packages";
import { clientEnvironment, runProgram, withHome } from "#test/support/clients/run-program";
import { type Agent, type AgentRun, agentDeadlineMs, agentPrompt } from "./program.ts";

export const claudeCode: Agent = {
  name: "Claude Code",
  call: (word) => ({ name: "Bash", arguments: { command: `echo did ${word}`, description: "Takes a step" } }),
  run: (origin) => withHome((home) => runIn(home, origin)),
};

async function runIn(home: string, origin: string): Promise<AgentRun> {
  const packages = await nodePackages();
  const run = await runProgram({
    // The launcher stands in for it where install scripts do not run.
    command: process.execPath,
    arguments: [
      join(packages, "node_modules", "@anthropic-ai", "claude-code", "cli-wrapper.cjs"),
      ...["--print", agentPrompt, "--model", models.anthropic],
      ...["--output-format", "json", "--allowedTools", "Bash"],
    ],
    folder: home,
    environment: clientEnvironment(home, {
      ANTHROPIC_BASE_URL: origin,
      ANTHROPIC_API_KEY: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: "1",
      DISABLE_AUTOUPDATER: "1",
    }),
    deadlineMs: agentDeadlineMs,
  });
  const report: unknown = run.stdout.startsWith("{") ? JSON.parse(run.stdout) : undefined;
  const said = text(member(report, "result")) ?? "";
  return { run, text: said, errors: member(report, "is_error") === true ? [said] : [] };
}
