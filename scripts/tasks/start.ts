/**
 * `npm start`: the whole gateway on this machine, from `examples/quickstart`, against the demo upstream.
 *
 * Prints what to try once the gateway is ready. Flags behind `npm start --` go to `tollgate standalone`; they replace what
 * is set here, and so do variables and a settings file. Real providers come alive with their keys in the environment.
 */
import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import picocolors from "picocolors";
import { parse } from "yaml";
import { checkPorts } from "#cli/checks/check-ports";
import { quickstartCalls } from "#scripts/quickstart-calls";
import { projectRoot } from "#scripts/run";
import { startFlags } from "#scripts/start-flags";

/** Named in `examples/quickstart/channels.yaml`. */
const demoPort = 11_990;
const readyDeadlineMs = 30_000;

const folder = join(projectRoot, "examples", "quickstart");
/** Whether nobody listens on a port: a busy one must not spoil the first try. */
function isFree(port: number): Promise<boolean> {
  return checkPorts([{ source: "npm start", host: "127.0.0.1", port }]).then(
    () => true,
    () => false,
  );
}

async function startDemoUpstream(): Promise<ChildProcess> {
  const child = fork(join(projectRoot, "examples", "demo-upstream", "main.ts"), ["--port", String(demoPort)], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const isListening = await new Promise<boolean>((resolve) => {
    child.once("message", () => resolve(true)).once("exit", () => resolve(false));
  });
  if (!isListening) {
    console.error(`The demo upstream needs port ${demoPort} of this machine, and something else listens there.`);
    process.exit(1);
  }
  return child;
}

interface Addresses {
  readonly data: string;
  readonly admin: string;
  readonly operatorAdmin: string;
}

function readStarted(message: unknown): Addresses | undefined {
  if (typeof message !== "object" || message === null) return undefined;
  const { data, admin, operatorAdmin } = { data: undefined, admin: undefined, operatorAdmin: undefined, ...message };
  return typeof data === "string" && typeof admin === "string"
    ? { data, admin, operatorAdmin: String(operatorAdmin) }
    : undefined;
}

/** Waits until the proxy has its first configuration and the generated key is written. */
async function waitUntilReady(addresses: Addresses): Promise<string> {
  const until = Date.now() + readyDeadlineMs;
  while (Date.now() < until && !isStopping && gateway.exitCode === null) {
    const key = readGeneratedKey("first-key");
    const isReady = await fetch(`${addresses.admin}/readyz`).then(
      (reply) => reply.ok,
      () => false,
    );
    if (isReady && key !== undefined && (await isKnown(addresses))) return key;
    await sleep(50);
  }
  throw new Error(`the gateway was not ready within ${readyDeadlineMs / 1000} s; see its messages above`);
}

/** A new key reaches the proxy a moment after its Secret is written. */
async function isKnown({ admin }: Addresses): Promise<boolean> {
  const reply = await fetch(`${admin}/debug/explain?key=quickstart/first&model=demo`);
  const explanation: { readonly allowed?: unknown } = JSON.parse(await reply.text());
  return explanation.allowed === true;
}

function readGeneratedKey(secret: string): string | undefined {
  try {
    const manifest = parse(readFileSync(join(dataFolder, "secrets", `quickstart.${secret}.yaml`), "utf8"));
    const key: unknown = manifest?.stringData?.apiKey;
    return typeof key === "string" ? key : undefined;
  } catch {
    // Not written yet.
    return undefined;
  }
}

function printWelcome({ data, admin, operatorAdmin }: Addresses, key: string): void {
  const { bold, cyan, dim, yellow } = picocolors.createColors(process.stdout.isTTY === true);
  const calls = quickstartCalls(data, key).flatMap(({ title, command }) => [
    "",
    bold(title),
    `  ${command.replaceAll("\n", "\n  ")}`,
  ]);
  console.log(
    [
      "",
      bold("Tollgate is ready."),
      "",
      `  address   ${cyan(data)}`,
      `  key       ${cyan(key)}`,
      `  metrics   ${admin}/metrics`,
      `  fleet     ${operatorAdmin}/debug/fleet`,
      `  manifests ${folder} ${dim("(edit them: changes are live at once)")}`,
      ...moved.map((line) => yellow(`  ${line}`)),
      ...calls,
      "",
      dim("More, with Realtime: docs/how-to/capabilities.md"),
      dim(
        "Answers come from the demo upstream unless OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY is set. End with Ctrl-C.",
      ),
      "",
    ].join("\n"),
  );
}

let isStopping = false;
const { flags, dataFolder, moved } = await startFlags(
  {
    manifests: folder,
    data: join(projectRoot, ".tollgate", "quickstart"),
    "egress.allowCIDRs": "127.0.0.1/32",
    // No load balancer stands in front that would have to notice the end first.
    "drain.endpointLag": "0s",
    "secrets.fromEnvironment":
      "quickstart/openai/apiKey=OPENAI_API_KEY,quickstart/anthropic/apiKey=ANTHROPIC_API_KEY,quickstart/gemini/apiKey=GEMINI_API_KEY",
  },
  {
    given: process.argv.slice(2),
    variables: process.env,
    readFile: (path) => readFileSync(path, "utf8"),
    isFree,
  },
);
for (const line of moved) console.error(line);
const demo = await startDemoUpstream();
const gateway = fork(join(projectRoot, "cli", "main.ts"), ["standalone", ...flags], {
  stdio: ["inherit", "inherit", "inherit", "ipc"],
});
gateway.on("message", (message) => {
  const addresses = readStarted(message);
  if (addresses === undefined) return;
  waitUntilReady(addresses).then(
    (key) => printWelcome(addresses, key),
    (error: Error) => {
      if (isStopping || gateway.exitCode !== null) return;
      console.error(`start: ${error.message}`);
      gateway.kill("SIGTERM");
    },
  );
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    isStopping = true;
    gateway.kill("SIGTERM");
  });
}
gateway.once("exit", (code) => {
  demo.kill("SIGTERM");
  process.exitCode = code ?? 1;
});
