/**
 * Every block of the pages for those who use the gateway does what it says while `npm start` runs; those for a cluster
 * (`shell`) run in `test/e2e`, the coding agents themselves in `test/clients`.
 */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { after, before, describe, it } from "mocha";
import { quickstartCalls } from "#scripts/quickstart-calls";
import { projectRoot } from "#scripts/run";
import { freePort } from "#test/support/kube-control-plane";
import { readPageBlocks } from "#test/support/page-blocks";
import { needRedis } from "#test/support/redis/redis-server";
import { waitFor } from "#test/support/wait-for";

const run = promisify(execFile);

const blocks = await readPageBlocks();
/** What `npm start` gives with the manifests of the blocks: they refer to its channels and accounts. */
const quickstart = ["examples/quickstart", "--egress-allow-cidrs", "127.0.0.1/32"];

describe("blocks of the pages", function () {
  this.timeout(90_000);
  let folder = "";
  let start: ChildProcess;
  let output = "";
  let key = "";
  /** Ports of the gateways that blocks start themselves, and those of this run. */
  const ownPorts = new Map<string, number>();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-pages-"));
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
    for (const port of ["8000", "9000", "9001", "6379"]) ownPorts.set(port, await freePort());
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
    const fleet = /fleet +(http:\S+)\/debug\/fleet/.exec(output)?.[1] ?? "";
    return text
      .replaceAll(
        /(127\.0\.0\.1:|--port )(8000|9000|9001|6379)\b/g,
        (_, before: string, port: string) => `${before}${ownPorts.get(port)}`,
      )
      .replaceAll("http://127.0.0.1:8080", address)
      .replaceAll("ws://127.0.0.1:8080", address.replace("http:", "ws:"))
      .replaceAll("http://127.0.0.1:9090", metrics)
      .replaceAll("http://127.0.0.1:9091", fleet)
      .replaceAll(".tollgate/quickstart", join(folder, "data"))
      .replaceAll(/^node /gm, `${process.execPath} `);
  }

  it("has blocks of every kind", () => {
    const languages = new Set(blocks.map((block) => block.language));
    assert.deepEqual([...languages].sort(), ["bash", "sh", "shell", "toml", "ts", "yaml"]);
  });

  for (const [index, { title }] of quickstartCalls("", "").entries()) {
    it(`npm start shows a call that works: ${title}`, async () => {
      // As it was printed, and not as it is made: an indentation or a colour must not spoil it.
      const address = /address +(http:\S+)/.exec(output)?.[1] ?? "";
      const command = quickstartCalls(address, key)[index]?.command ?? "";
      assert.ok(output.includes(command.replaceAll("\n", "\n  ")), output);
      const script = command.replace("curl -s", "curl -sS --fail-with-body");
      const { stdout } = await run("bash", ["-euo", "pipefail", "-c", script], { cwd: folder });
      assert.notEqual(stdout.trim(), "");
    });
  }

  for (const block of blocks) {
    const title = `${block.page}, line ${block.line}: ${block.text.trim().split("\n")[0]}`;
    switch (block.language) {
      case "bash":
        it(title, async function () {
          if (block.text.includes("redis-server")) needRedis(this);
          const { stdout } = await run("bash", ["-euo", "pipefail", "-c", localise(block.text)], {
            cwd: projectRoot,
            env: { ...process.env, TMPDIR: folder },
          });
          assert.notEqual(stdout.trim(), "");
        });
        break;
      case "ts":
        it(title, async () => {
          // Beside the packages, which are installed under names of their generation.
          const path = join(projectRoot, "test", `.page-${block.line}.ts`);
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
          const { stdout } = await run(process.execPath, ["cli/main.ts", "validate", path, ...quickstart], {
            cwd: projectRoot,
          });
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
