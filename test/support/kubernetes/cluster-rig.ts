/**
 * Operators and proxies as processes of their own in front of a real API server: what the resilience tests of the
 * control plane break. Everything lies in the control plane's folder and ends with `close()`.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { operatorNodeFlags } from "#cli/operator-node-flags";
import { type ControlPlane, freePort } from "#test/support/kube-control-plane";
import { Program } from "#test/support/resilience/program";
import { waitFor } from "#test/support/wait-for";

export interface OperatorOptions {
  /** The administrator's kubeconfig when absent. */
  readonly kubeconfig?: string;
  readonly flags?: readonly string[];
  /** Flags for Node beside those of an operator. */
  readonly nodeFlags?: readonly string[];
}

/** Durations of the tests: about a tenth of the real ones. */
const operatorFlags: readonly string[] = [
  "--watch-silence=2s",
  "--watch-probe-timeout=1s",
  "--watch-backoff-min=100ms",
  "--watch-backoff-max=2s",
  "--lease-duration=3s",
  "--lease-renew-deadline=2s",
  "--lease-retry-period=400ms",
  "--push-heartbeat=1s",
  "--push-dead=3s",
  "--egress-allow-cidrs=127.0.0.1/32",
  "--logs-format=json",
];

/** One `tollgate operator`. */
export class OperatorUnderTest extends Program {
  readonly adminOrigin: string;
  readonly socket: string;
  readonly name: string;

  constructor(
    name: string,
    adminPort: number,
    data: string,
    args: readonly string[],
    nodeFlags: readonly string[] = [],
  ) {
    super(
      [
        "operator",
        `--data=${data}`,
        `--operator-admin=127.0.0.1:${adminPort}`,
        `--kubernetes-pod-name=${name}`,
        ...args,
      ],
      [...operatorNodeFlags, ...nodeFlags],
    );
    this.name = name;
    this.adminOrigin = `http://127.0.0.1:${adminPort}`;
    this.socket = join(data, "push.sock");
  }

  /** Whether its source was read. */
  override async isReady(): Promise<boolean> {
    return (await fetch(`${this.adminOrigin}/readyz`)).ok;
  }

  async waitUntilReady(deadlineMs = 15_000): Promise<void> {
    try {
      await waitFor(`${this.name} to be ready`, () => this.isReady(), { deadlineMs });
    } catch (cause) {
      throw new Error(`${this.name} is not ready; it said at last:\n${this.output.slice(-2_000)}`, { cause });
    }
  }

  /** Value of a metric: the sum over all series whose labels contain these; undefined where there is none. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    return readMetric(await (await fetch(`${this.adminOrigin}/metrics`)).text(), name, labels);
  }

  async fleet(): Promise<{
    revision: number;
    digest: string;
    keys: number;
    proxies: { proxy: string; isReady: boolean; revision: number; digest: string; backlog: number }[];
  }> {
    return JSON.parse(await (await fetch(`${this.adminOrigin}/debug/fleet`)).text());
  }
}

/** @returns the sum over all series of a scrape whose labels contain these; 0 where there is none */
export function readMetric(scrape: string, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return scrape
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => wanted.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

export class ClusterRig {
  readonly plane: ControlPlane;
  readonly #programs: Program[] = [];
  #count = 0;

  constructor(plane: ControlPlane) {
    this.plane = plane;
  }

  /** Starts an operator; it may not be ready yet. */
  async startOperator(
    name: string,
    { kubeconfig, flags = [], nodeFlags = [] }: OperatorOptions = {},
  ): Promise<OperatorUnderTest> {
    const data = await this.#folder(name);
    const isGiven = (flag: string) => flags.some((given) => given.split("=")[0] === flag.split("=")[0]);
    const args = [
      `--kubernetes-kubeconfig=${kubeconfig ?? (await this.plane.kubeconfig())}`,
      ...[`--push-listen=127.0.0.1:${await freePort()}`, ...operatorFlags].filter((flag) => !isGiven(flag)),
      ...flags,
    ];
    const operator = new OperatorUnderTest(name, await freePort(), data, args, nodeFlags);
    this.#programs.push(operator);
    return operator;
  }

  /** Starts a proxy on an operator's socket and waits for its ports. */
  async startProxy(
    name: string,
    socket: string,
    flags: readonly string[] = [],
    nodeFlags: readonly string[] = [],
  ): Promise<Program> {
    const args = [
      "proxy",
      `--operator=unix:${socket}`,
      `--data=${await this.#folder(name)}`,
      `--proxy-name=${name}`,
      "--listen=127.0.0.1:0",
      "--admin=127.0.0.1:0",
      "--push-heartbeat=1s",
      "--push-dead=3s",
      "--drain-endpoint-lag=0s",
      "--drain-timeout=3s",
      "--no-logs-access",
      "--logs-format=json",
      ...flags,
    ];
    const proxy = new Program(args, nodeFlags);
    this.#programs.push(proxy);
    await proxy.waitUntilListening();
    return proxy;
  }

  async close(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.close()));
  }

  /** A process started again under its old name finds what it left. */
  async #folder(name: string): Promise<string> {
    this.#count += 1;
    const folder = join(this.plane.folder, name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }
}
