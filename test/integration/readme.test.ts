/**
 * Every block of README.md and of the page for coding agents does what it says while `npm start` runs; those for a cluster
 * (`shell`) run in `test/e2e`, the programs themselves in `test/clients`.
 */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { after, before, describe, it } from "mocha";
import { projectRoot } from "#scripts/run";
import { readBlocks } from "#test/support/readme-blocks";
import { waitFor } from "#test/support/wait-for";

const run = promisify(execFile);

const pages = ["README.md", "docs/coding-agents.md"];
const blocks = await Promise.all(
  pages.map(async (page) => {
    const read = readBlocks(await readFile(join(projectRoot, page), "utf8"));
    return read.map((block) => ({ ...block, page }));
  }),
).then((all) => all.flat());

describe("blocks of the pages", function () {
  this.timeout(90_000);
  let folder = "";
  let start: ChildProcess;
  let output = "";
  let key = "";

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-readme-"));
    start = spawn(
      process.execPath,
      [
        "scripts/tasks/start.ts",
        "--data",
        join(folder, "data"),
        "--listen",
        "127.0.0.1:0",
        "--admin",
        "127.0.0.1:0",
        "--operator-admin",
        "127.0.0.1:0",
      ],
      { cwd: projectRoot, stdio: ["ignore", "pipe", "pipe"] },
    );
    for (const stream of [start.stdout, start.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    await waitFor(
      "npm start to be ready",
      () => output.includes("Tollgate is ready.") && output.includes("End with Ctrl-C"),
      { deadlineMs: 40_000 },
    );
    key = /key +(sk-[\w-]+)/.exec(output)?.[1] ?? "";
  });

  after(async () => {
    const ended = new Promise((resolve) => start.once("exit", resolve));
    start.kill("SIGTERM");
    await ended;
    await rm(folder, { recursive: true, force: true });
  });

  /** The same text for the ports and the folder of this run. */
  function localise(text: string): string {
    const address = /address +(http:\S+)/.exec(output)?.[1] ?? "";
    const metrics = /metrics +(http:\S+)\/metrics/.exec(output)?.[1] ?? "";
    return text
      .replaceAll("http://127.0.0.1:8080", address)
      .replaceAll("http://127.0.0.1:9090", metrics)
      .replaceAll(".tollgate/quickstart", join(folder, "data"))
      .replaceAll(/^node /gm, `${process.execPath} `);
  }

  it("has blocks of every kind", () => {
    const languages = new Set(blocks.map((block) => block.language));
    assert.deepEqual([...languages].sort(), ["bash", "mermaid", "sh", "shell", "toml", "ts", "yaml"]);
  });

  for (const block of blocks) {
    const title = `${block.page}, line ${block.line}: ${block.text.trim().split("\n")[0]}`;
    switch (block.language) {
      case "bash":
        it(title, async () => {
          const { stdout } = await run("bash", ["-euo", "pipefail", "-c", localise(block.text)], { cwd: projectRoot });
          assert.notEqual(stdout.trim(), "");
        });
        break;
      case "ts":
        it(title, async () => {
          // Beside the packages, which are installed under names of their generation.
          const path = join(projectRoot, "test", `.readme-${block.line}.ts`);
          const aliases = localise(block.text)
            .replace('"openai"', '"openai-7"')
            .replace('"@anthropic-ai/sdk"', '"anthropic-1"')
            .replace('"@google/genai"', '"genai-3"');
          await writeFile(path, aliases);
          try {
            const { stdout } = await run(process.execPath, [path], { env: { ...process.env, KEY: key } });
            assert.match(stdout, /You said: Hello!/);
          } finally {
            await rm(path);
          }
        });
        break;
      case "yaml":
        it(title, async () => {
          const path = join(folder, `block-${block.line}.yaml`);
          await writeFile(path, block.text);
          const { stdout } = await run(process.execPath, ["cli/main.ts", "validate", path], { cwd: projectRoot });
          assert.match(stdout, /no problems/);
        });
        break;
      case "sh":
        it(title, async () => {
          const { scripts } = JSON.parse(await readFile(join(projectRoot, "package.json"), "utf8"));
          for (const line of block.text.trim().split("\n")) assert.ok(scripts[line.replace("npm ", "")], line);
        });
        break;
      default:
        break;
    }
  }
});
