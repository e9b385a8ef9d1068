/**
 * The real program on free ports, from manifests given as strings: what integration, resilience and security tests talk
 * to. Everything lies in a temporary folder and ends with `close()`.
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { waitFor, within } from "./wait-for.ts";

const program = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "cli", "main.ts");

export interface GatewayOptions {
  /** Text by file name, for example `{"keys.yaml": "..."}`. */
  readonly manifests: Readonly<Record<string, string>>;
  /** Further flags of `tollgate standalone`; they replace the defaults below. */
  readonly flags?: readonly string[];
  /** Further variables of the environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Reuse the data folder of a gateway that was stopped. */
  readonly dataFolder?: string;
  readonly deadlineMs?: number;
}

/** Free ports, no waiting at the end, loopback upstreams allowed, everything logged. */
const defaultFlags: readonly (readonly [string, string])[] = [
  ["--listen", "127.0.0.1:0"],
  ["--admin", "127.0.0.1:0"],
  ["--operator-admin", "127.0.0.1:0"],
  ["--drain-endpoint-lag", "0s"],
  ["--drain-timeout", "3s"],
  ["--egress-allow-cidrs", "127.0.0.1/32"],
  ["--logs-format", "json"],
  ["--logs-level", "debug"],
];

export class Gateway {
  /** Origin of the data port: `http://127.0.0.1:PORT`. */
  readonly origin: string;
  readonly port: number;
  readonly adminOrigin: string;
  readonly operatorOrigin: string;
  /** The watched folder. */
  readonly folder: string;
  readonly dataFolder: string;
  readonly process: ChildProcess;
  readonly #root: string;
  readonly #output: { text: string };

  constructor(addresses: StartedAddresses, folders: Folders, process: ChildProcess, output: { text: string }) {
    this.origin = addresses.data;
    this.port = Number(new URL(addresses.data).port);
    this.adminOrigin = addresses.admin;
    this.operatorOrigin = addresses.operatorAdmin;
    this.folder = folders.manifests;
    this.dataFolder = folders.data;
    this.process = process;
    this.#root = folders.root;
    this.#output = output;
  }

  /** Standard output and error of operator and proxies so far. */
  get logs(): string {
    return this.#output.text;
  }

  /** Lines of the access log so far. */
  get accessLog(): Record<string, unknown>[] {
    return this.#output.text
      .split("\n")
      .filter((line) => line.startsWith('{"time"'))
      .map((line) => JSON.parse(line));
  }

  /** A key that a `generate` credential made. */
  async generatedKey(secretName: string, namespace = "default"): Promise<string> {
    const path = join(this.dataFolder, "secrets", `${namespace}.${secretName}.yaml`);
    const manifest = await waitFor(`the Secret ${path}`, async () => parse(await readFile(path, "utf8")));
    return manifest.stringData.apiKey;
  }

  /** Writes or replaces a manifest as careful tools do: beside it, then by rename. */
  async write(name: string, text: string): Promise<void> {
    const unfinished = join(this.folder, `.${name}.tmp`);
    await writeFile(unfinished, text);
    await rename(unfinished, join(this.folder, name));
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.folder, name));
  }

  /** What the proxy would decide, as `/debug/explain` tells it. @param key `namespace/name` */
  async explain(key: string, model: string): Promise<{ allowed: boolean; refused?: string; message: string }> {
    const reply = await fetch(`${this.adminOrigin}/debug/explain?key=${key}&model=${encodeURIComponent(model)}`);
    return JSON.parse(await reply.text());
  }

  /** Waits until a call of this key to this model would be served. */
  async waitUntilServed(key: string, model: string): Promise<void> {
    await waitFor(`${model} to be served to ${key}`, async () => (await this.explain(key, model)).allowed, {
      deadlineMs: 10_000,
    });
  }

  /** Value of a metric: the sum over all series whose labels contain these. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const text = await (await fetch(`${this.adminOrigin}/metrics`)).text();
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    return text
      .split("\n")
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter((line) => wanted.every((label) => line.includes(label)))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
  }

  /** Ends the program and waits. @returns its exit status */
  async stop(signal: "SIGTERM" | "SIGINT" | "SIGKILL" = "SIGTERM", deadlineMs = 15_000): Promise<number | null> {
    const { process } = this;
    if (process.exitCode !== null || process.signalCode !== null) return process.exitCode;
    const ended = new Promise<number | null>((resolve) => process.once("exit", (code) => resolve(code)));
    process.kill(signal);
    try {
      return await within(deadlineMs, "the gateway to end", ended);
    } catch (error) {
      process.kill("SIGKILL");
      throw error;
    }
  }

  /** Stops it if it runs, and removes its folders. */
  async close(): Promise<void> {
    await this.stop();
    await rm(this.#root, { recursive: true, force: true });
  }
}

interface StartedAddresses {
  readonly data: string;
  readonly admin: string;
  readonly operatorAdmin: string;
}

interface Folders {
  readonly root: string;
  readonly manifests: string;
  readonly data: string;
}

/** Starts `tollgate standalone` and waits until its proxy is ready. @throws Error with the program's output */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const root = await mkdtemp(join(tmpdir(), "tollgate-test-"));
  const folders = { root, manifests: join(root, "manifests"), data: options.dataFolder ?? join(root, "data") };
  await mkdir(folders.manifests);
  for (const [name, text] of Object.entries(options.manifests)) await writeFile(join(folders.manifests, name), text);
  const given = options.flags ?? [];
  const isGiven = (flag: string): boolean =>
    given.some((argument) => argument === flag || argument.startsWith(`${flag}=`));
  const flags = defaultFlags.filter(([flag]) => !isGiven(flag)).map(([flag, value]) => `${flag}=${value}`);
  const child = fork(
    program,
    ["standalone", "--manifests", folders.manifests, "--data", folders.data, ...flags, ...given],
    {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      execArgv: [],
      env: { PATH: process.env["PATH"], HOME: root, ...options.environment },
    },
  );
  const output = { text: "" };
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output.text += text;
    });
  try {
    const addresses = await within(options.deadlineMs ?? 20_000, "the gateway to start", readStarted(child));
    await waitFor("the proxy to be ready", async () => (await fetch(`${addresses.admin}/readyz`)).ok, {
      deadlineMs: 10_000,
    });
    return new Gateway(addresses, folders, child, output);
  } catch (error) {
    child.kill("SIGKILL");
    await rm(root, { recursive: true, force: true });
    throw new Error(`the gateway did not start; its output:\n${output.text}`, { cause: error });
  }
}

function readStarted(child: ChildProcess): Promise<StartedAddresses> {
  return new Promise((resolve, reject) => {
    child.on("message", (message) => {
      if (typeof message !== "object" || message === null) return;
      if (!("data" in message) || !("admin" in message) || !("operatorAdmin" in message)) return;
      resolve({
        data: String(message.data),
        admin: String(message.admin),
        operatorAdmin: String(message.operatorAdmin),
      });
    });
    child.once("exit", (code) => reject(new Error(`it ended with status ${code}`)));
  });
}
