/**
 * Operators and proxies as processes of their own, connected over TLS, in front of a real API server: each has a Pod
 * and a token bound to it. What a kubelet does for them in a cluster is done here: tokens and the bundle are files that
 * follow the API server, a pod is ready when its program says so. Operators listen on loopback addresses of their own.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type ControlPlane, freePort, type RoleRule } from "#test/support/kube-control-plane";
import { ClusterRig, type OperatorUnderTest } from "#test/support/kubernetes/cluster-rig";
import { Program } from "#test/support/resilience/program";
import { waitFor } from "#test/support/wait-for";

export const ownNamespace = "tollgate";
const host = "tollgate-push.tollgate.svc";
const audience = "tollgate-push";
const group = "tollgate.dev";

/** The rights of docs/design/operations.md 2.1, for an operator that watches all namespaces. */
const clusterRules: readonly RoleRule[] = [
  {
    apiGroups: [group],
    resources: ["accounts", "apikeys", "channels", "modelroutes"],
    verbs: ["get", "list", "watch"],
  },
  {
    apiGroups: [group],
    resources: ["accounts/status", "apikeys/status", "channels/status", "modelroutes/status"],
    verbs: ["patch"],
  },
  { apiGroups: [""], resources: ["secrets", "configmaps"], verbs: ["get", "list", "watch"] },
  { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
  { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
];
const ownRules: readonly RoleRule[] = [
  { apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"] },
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create", "get", "update"] },
  { apiGroups: [""], resources: ["secrets", "configmaps"], verbs: ["create", "update"] },
];

export interface FleetProxy {
  readonly name: string;
  readonly program: Program;
}

interface Mounted {
  readonly name: string;
  readonly account: string;
  readonly tokenFile: string;
  readonly caFile: string | undefined;
  readonly isReady: () => Promise<boolean>;
  uid: string;
  isMarkedReady: boolean;
  renewAtMs: number;
}

/** Between two looks of the kubelet's stand-in. */
const syncEveryMs = 150;

export class ClusterFleet {
  readonly plane: ControlPlane;
  readonly rig: ClusterRig;
  readonly operators: OperatorUnderTest[] = [];
  readonly proxies: FleetProxy[] = [];
  /** Life of tokens; the API server gives none under ten minutes, so they are only renewed more often. */
  tokenRenewalMs = 300_000;
  readonly #port: number;
  readonly #flags: readonly string[];
  readonly #addressFile: string;
  readonly #mounted = new Map<string, Mounted>();
  readonly #syncing: Promise<void>;
  #addresses: string[] = [];
  #bundle = "";
  #isClosed = false;

  private constructor(plane: ControlPlane, port: number, flags: readonly string[]) {
    this.plane = plane;
    this.rig = new ClusterRig(plane);
    this.#port = port;
    this.#flags = flags;
    this.#addressFile = join(plane.folder, "push-addresses");
    this.#syncing = this.#syncRegularly();
  }

  /** @param flags of every operator */
  static async start(plane: ControlPlane, flags: readonly string[] = []): Promise<ClusterFleet> {
    await plane.must("POST", "/api/v1/namespaces", { metadata: { name: ownNamespace } });
    await plane.createAccount(ownNamespace, "tollgate-operator", {
      cluster: clusterRules,
      namespaced: { [ownNamespace]: ownRules },
    });
    await plane.createAccount(ownNamespace, "tollgate-proxy", {});
    return new ClusterFleet(plane, await freePort(), flags);
  }

  get port(): number {
    return this.#port;
  }

  /** What is asked of the operators by this address only. */
  addressOf(operator: OperatorUnderTest): string {
    return `127.0.0.${Number(operator.name.split("-").at(-1)) + 1}`;
  }

  /** Starts `operator-<index>`; call it again for one that ended. */
  async operator(index: number, flags: readonly string[] = []): Promise<OperatorUnderTest> {
    return (await this.mountOperator(index, flags))();
  }

  /** Makes the pod and what it mounts. @returns how to start its program, which needs no API server any more */
  async mountOperator(index: number, flags: readonly string[] = []): Promise<() => Promise<OperatorUnderTest>> {
    const name = `operator-${index}`;
    const address = `127.0.0.${index + 1}`;
    const tokenFile = await this.#mount(name, "tollgate-operator", "operator", undefined, async () => {
      return (await operator?.isReady().catch(() => false)) ?? false;
    });
    let operator: OperatorUnderTest | undefined;
    const token = await this.plane.tokenOf(ownNamespace, "tollgate-operator");
    const kubeconfig = await this.plane.kubeconfig({ token, namespace: ownNamespace });
    return async () => {
      operator = await this.rig.startOperator(name, {
        kubeconfig,
        flags: [
          `--push-listen=${address}:${this.#port}`,
          `--kubernetes-pod-ip=${address}`,
          `--kubernetes-namespace=${ownNamespace}`,
          `--push-token=${tokenFile}`,
          `--push-tls-dns-names=${host}`,
          "--push-proxy-labels=app.kubernetes.io/component=proxy",
          ...this.#flags,
          ...flags,
        ],
      });
      this.operators.push(operator);
      await this.show([...new Set([...this.#addresses, address])]);
      return operator;
    };
  }

  /** The addresses behind the Service. */
  async show(addresses: readonly string[]): Promise<void> {
    this.#addresses = [...addresses];
    await replaceFile(this.#addressFile, addresses.join("\n"));
  }

  /** @param options.tokenFile of a proxy that shows another token than its own */
  async proxy(name: string, options: { tokenFile?: string; flags?: readonly string[] } = {}): Promise<FleetProxy> {
    return (await this.mountProxy(name, options))();
  }

  /** Makes the pod and what it mounts. @returns how to start its program, which needs no API server any more */
  async mountProxy(
    name: string,
    options: { tokenFile?: string; flags?: readonly string[] } = {},
  ): Promise<() => Promise<FleetProxy>> {
    const folder = join(this.plane.folder, name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const caFile = join(folder, "ca.crt");
    let program: Program | undefined;
    const tokenFile = await this.#mount(name, "tollgate-proxy", "proxy", caFile, async () => {
      return (await program?.isReady().catch(() => false)) ?? false;
    });
    const resolver = `${pathToFileURL(join(import.meta.dirname, "push-host.mjs")).href}?${new URLSearchParams({ host, file: this.#addressFile })}`;
    return async () => {
      const started = new Program(
        [
          "proxy",
          `--operator=https://${host}:${this.#port}`,
          `--push-tls-ca=${caFile}`,
          `--push-token=${options.tokenFile ?? tokenFile}`,
          `--data=${folder}`,
          `--proxy-name=${name}`,
          "--listen=127.0.0.1:0",
          "--admin=127.0.0.1:0",
          "--push-heartbeat=1s",
          "--push-dead=3s",
          "--drain-endpoint-lag=0s",
          "--drain-timeout=3s",
          "--no-logs-access",
          "--logs-format=json",
          ...(options.flags ?? []),
        ],
        ["--import", resolver],
      );
      program = started;
      const proxy = { name, program: started };
      this.proxies.push(proxy);
      // Several programs start at once, on machines with two cores.
      await waitFor(`${name} to open its ports`, () => started.started.data !== undefined, { deadlineMs: 60_000 });
      return proxy;
    };
  }

  /** Ends a program and takes its pod away. */
  async remove(name: string, program: Program): Promise<void> {
    this.#mounted.delete(name);
    await program.close();
    await this.plane.call("DELETE", `${pods}/${name}?gracePeriodSeconds=0`);
  }

  async leader(): Promise<OperatorUnderTest> {
    return waitFor("a leader", async () => {
      for (const operator of this.operators) {
        const isLeader = await operator.metric("tollgate_leader").catch(() => 0);
        if (isLeader === 1) return operator;
      }
      return undefined;
    });
  }

  /** A token of an account bound to a pod that exists. */
  async tokenOfPod(account: string, pod: string, uid: string, wanted: string = audience): Promise<string> {
    const spec = {
      audiences: [wanted],
      expirationSeconds: 600,
      boundObjectRef: { apiVersion: "v1", kind: "Pod", name: pod, uid },
    };
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
    const path = `/api/v1/namespaces/${ownNamespace}/serviceaccounts/${account}/token`;
    return textAt(await this.plane.must("POST", path, body), "status", "token");
  }

  uidOf(name: string): string {
    return this.#mounted.get(name)?.uid ?? "";
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#syncing;
    await Promise.all(this.proxies.map(({ program }) => program.close()));
    await this.rig.close();
  }

  /** Makes the pod and its first token. @returns the token's file */
  async #mount(
    name: string,
    account: string,
    component: string,
    caFile: string | undefined,
    isReady: () => Promise<boolean>,
  ): Promise<string> {
    const folder = join(this.plane.folder, name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const tokenFile = join(folder, "token");
    const uid = await this.#makePod(name, account, component);
    const mounted: Mounted = {
      name,
      account,
      tokenFile,
      caFile,
      isReady,
      uid,
      isMarkedReady: false,
      renewAtMs: Infinity,
    };
    await this.#renewToken(mounted);
    if (caFile !== undefined && this.#bundle !== "") await writeIfChanged(caFile, this.#bundle);
    this.#mounted.set(name, mounted);
    return tokenFile;
  }

  async #makePod(name: string, account: string, component: string): Promise<string> {
    const present = await this.plane.call("GET", `${pods}/${name}`);
    if (present.status === 200) return textAt(present.body, "metadata", "uid");
    const pod = await this.plane.must("POST", pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, labels: { "app.kubernetes.io/component": component } },
      spec: {
        serviceAccountName: account,
        automountServiceAccountToken: false,
        containers: [{ name: component, image: "none" }],
      },
    });
    return textAt(pod, "metadata", "uid");
  }

  async #renewToken(mounted: Mounted): Promise<void> {
    await replaceFile(mounted.tokenFile, await this.tokenOfPod(mounted.account, mounted.name, mounted.uid));
    mounted.renewAtMs = performance.now() + this.tokenRenewalMs;
  }

  async #syncRegularly(): Promise<void> {
    while (!this.#isClosed) {
      // An API server that is away stops the kubelet too: what is mounted stays.
      await this.#sync().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, syncEveryMs));
    }
  }

  async #sync(): Promise<void> {
    const reply = await this.plane.call("GET", `/api/v1/namespaces/${ownNamespace}/configmaps/tollgate-push-ca`);
    if (reply.status === 200) this.#bundle = textAt(reply.body, "data", "ca.crt");
    for (const mounted of [...this.#mounted.values()]) {
      if (mounted.caFile !== undefined && this.#bundle !== "") await writeIfChanged(mounted.caFile, this.#bundle);
      if (performance.now() >= mounted.renewAtMs) await this.#renewToken(mounted);
      const isReady = await mounted.isReady();
      if (isReady === mounted.isMarkedReady || this.#isClosed) continue;
      const condition = { type: "Ready", status: isReady ? "True" : "False" };
      const body = JSON.stringify({ status: { conditions: [condition] } });
      await this.plane.must("PATCH", `${pods}/${mounted.name}/status`, body, "application/strategic-merge-patch+json");
      mounted.isMarkedReady = isReady;
    }
  }
}

const pods = `/api/v1/namespaces/${ownNamespace}/pods`;

/** As a kubelet does, so that no reader sees half of it. */
async function replaceFile(path: string, content: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}`;
  await writeFile(temporary, content, { mode: 0o600 });
  await rename(temporary, path);
}

async function writeIfChanged(path: string, content: string): Promise<void> {
  const present = await readFile(path, "utf8").catch(() => "");
  if (present !== content) await replaceFile(path, content);
}

function textAt(value: unknown, ...path: readonly string[]): string {
  let at = value;
  for (const name of path)
    at = typeof at === "object" && at !== null ? Object.entries(at).find(([key]) => key === name)?.[1] : "";
  return typeof at === "string" ? at : "";
}
