/** Codex CLI, which speaks responses. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject, member, text } from "#examples/demo-upstream/json-view";
import { key, models } from "#test/support/clients/clients-rig";
import { nodePackages } from "#test/support/clients/installed-packages";
import { clientEnvironment, runProgram, withHome } from "#test/support/clients/run-program";
import { type Agent, type AgentRun, agentDeadlineMs, agentPrompt } from "./program.ts";

export interface CodexOptions {
  /** Whether it tries a WebSocket first. */
  readonly triesWebSocket?: boolean;
}

/** @returns the program with these settings */
export function codex(options: CodexOptions = {}): Agent {
  return {
    name: "Codex CLI",
    call: (word) => ({ name: "exec_command", arguments: { cmd: `echo did ${word}` } }),
    run: (origin) => withHome((home) => runIn(home, origin, options)),
  };
}

async function runIn(home: string, origin: string, options: CodexOptions): Promise<AgentRun> {
  const packages = await nodePackages();
  await mkdir(join(home, ".codex"));
  await writeFile(join(home, ".codex", "config.toml"), settings(origin, options));
  const run = await runProgram({
    command: process.execPath,
    arguments: [
      join(packages, "node_modules", "@openai", "codex", "bin", "codex.js"),
      "exec",
      "--json",
      "--skip-git-repo-check",
      // Its sandbox needs rights that a container may not have; it runs nothing but echo.
      "--dangerously-bypass-approvals-and-sandbox",
      agentPrompt,
    ],
    folder: home,
    environment: clientEnvironment(home, { GATEWAY_KEY: key }),
    deadlineMs: agentDeadlineMs,
  });
  const events = run.stdout.split("\n").flatMap((line) => {
    const event: unknown = line.startsWith("{") ? JSON.parse(line) : undefined;
    return isObject(event) ? [event] : [];
  });
  const items = events.flatMap((event) => (event["type"] === "item.completed" ? [event["item"]] : []));
  const texts = items.filter((item) => member(item, "type") === "agent_message").map((item) => member(item, "text"));
  // An item of type `error` is a warning: one says that the program does not know the model from its own list.
  const warnings = items.filter((item) => member(item, "type") === "error");
  const errors = [...warnings, ...events.filter((event) => event["type"] === "error")];
  return {
    run,
    text: text(texts.at(-1)) ?? "",
    errors: errors.flatMap((error) => text(member(error, "message")) ?? []),
  };
}

function settings(origin: string, { triesWebSocket = false }: CodexOptions): string {
  return `model = "${models.openai}"
model_provider = "gateway"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.gateway]
name = "gateway"
base_url = "${origin}/v1"
env_key = "GATEWAY_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 1
supports_websockets = ${triesWebSocket}
`;
}
