/**
 * A real etcd and a real Kubernetes API server on loopback, for tests against the genuine article: RBAC, audit log,
 * ServiceAccount tokens, TokenReview.
 *
 * Binaries come from `KUBEBUILDER_ASSETS`, else from the cache of the test cluster (`TOLLGATE_CLUSTER_CACHE`, else
 * `~/.cache/tollgate-cluster`). Where there are none, `startControlPlane` says so and the suite skips loudly.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync, openSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { stringify } from "yaml";

export interface ApiReply {
  readonly status: number;
  readonly body: unknown;
}

/** A rule of a Role, as in manifests. */
export interface RoleRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** One line of the audit log. */
export interface AuditEvent {
  readonly verb: string;
  readonly user: string;
  readonly resource: string | undefined;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  readonly status: number | undefined;
  readonly userAgent: string | undefined;
  readonly uri: string;
}

export interface KubeconfigOptions {
  /** The administrator's when absent. */
  readonly token?: string;
  /** File that the token is read from, again and again; instead of `token`. */
  readonly tokenFile?: string;
  /** Port of something in front of the API server. */
  readonly port?: number;
  readonly namespace?: string;
}

export interface ControlPlane {
  readonly port: number;
  /** Folder for files of the test; removed by `stop`. */
  readonly folder: string;
  /** The API server's own certificate and key, for a relay that must read what passes. */
  readonly certificate: { readonly cert: string; readonly key: string };
  /** Sends one request as an administrator; `body` goes as JSON, or as it is when it is text. */
  call(method: string, path: string, body?: unknown, contentType?: string): Promise<ApiReply>;
  /** The same, failing loudly on any status of 400 or more. @returns the parsed body */
  must(method: string, path: string, body?: unknown, contentType?: string): Promise<unknown>;
  /** Applies the project's own CRDs and waits until they are served. */
  installCrds(): Promise<void>;
  /** Makes a ServiceAccount with these permissions: in its namespace, and in the whole cluster. */
  createAccount(
    namespace: string,
    name: string,
    rules: {
      readonly namespaced?: Readonly<Record<string, readonly RoleRule[]>>;
      readonly cluster?: readonly RoleRule[];
    },
  ): Promise<void>;
  /** A token of a ServiceAccount, bound to an audience where one is given. */
  tokenOf(namespace: string, name: string, options?: { audience?: string; seconds?: number }): Promise<string>;
  /** Writes a kubeconfig. @returns its path */
  kubeconfig(options?: KubeconfigOptions): Promise<string>;
  /** What was asked of the API server so far. */
  auditLog(): Promise<AuditEvent[]>;
  /** Kills one of the two with SIGKILL. */
  kill(program: "etcd" | "kube-apiserver"): Promise<void>;
  /** Starts it again on the same port with the same data; resolves when the API server is ready. */
  start(program: "etcd" | "kube-apiserver"): Promise<void>;
  /** SIGSTOP and SIGCONT: a peer that is there and says nothing. */
  pause(program: "etcd" | "kube-apiserver", isPaused: boolean): void;
  stop(): Promise<void>;
}

export interface ControlPlaneOptions {
  /** Further flags of kube-apiserver. */
  readonly apiServerFlags?: readonly string[];
}

const readyDeadlineMs = 60_000;
/** After a long absence the API server's own connection to etcd waits up to two minutes before it tries again. */
const etcdFoundDeadlineMs = 150_000;
const crdFolder = join(import.meta.dirname, "..", "..", "crds");
const crdFiles = ["accounts", "api-keys", "channels", "model-routes"];

/** @returns the running control plane, or why there can be none */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane | string> {
  const binaries = findBinaries();
  if (binaries === undefined) {
    return "no kube-apiserver: set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver";
  }
  const folder = await mkdtemp(join(tmpdir(), "tollgate-control-plane-"));
  const [clientPort, peerPort, port] = await Promise.all([freePort(), freePort(), freePort()]);
  const token = randomBytes(24).toString("hex");
  await writeSecrets(folder, token);
  const commands = commandsOf(folder, { clientPort, peerPort, port }, options.apiServerFlags ?? []);
  const children = new Map<string, ChildProcess>();
  const spawnProgram = (program: "etcd" | "kube-apiserver") =>
    children.set(program, run(binaries, folder, program, commands[program]));
  spawnProgram("etcd");
  spawnProgram("kube-apiserver");

  const agent = new Agent({ keepAlive: true });
  const call: ControlPlane["call"] = (method, path, body, contentType = "application/json") =>
    callApi(folder, port, agent, token, method, path, body, contentType);
  const must: ControlPlane["must"] = async (method, path, body, contentType) => {
    const reply = await call(method, path, body, contentType);
    if (reply.status >= 400) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
  const stop = async (): Promise<void> => {
    agent.destroy();
    await Promise.all([...children.values()].map(stopChild));
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const waitUntilReady = async (deadlineMs = readyDeadlineMs): Promise<void> => {
    const deadline = performance.now() + deadlineMs;
    while (!(await isReady(call))) {
      const isDead = [...children.values()].some((child) => child.exitCode !== null);
      if (performance.now() > deadline || isDead) {
        const log = await readFile(join(folder, "kube-apiserver.log"), "utf8");
        await stop();
        throw new Error(`The API server did not become ready. ${log.slice(-2000)}`);
      }
      await wait(100);
    }
  };
  await waitUntilReady();
  const read = (name: string) => readFile(join(folder, "certificates", name), "utf8");
  const certificate = { cert: await read("apiserver.crt"), key: await read("apiserver.key") };
  let configs = 0;
  return {
    port,
    folder,
    certificate,
    call,
    must,
    stop,
    installCrds: () => installCrds(call, must),
    createAccount: (namespace, name, rules) => createAccount(must, namespace, name, rules),
    async tokenOf(namespace, name, { audience, seconds = 3_600 } = {}) {
      const spec = { expirationSeconds: seconds, ...(audience !== undefined && { audiences: [audience] }) };
      const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
      const reply = await must("POST", `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, body);
      return textAt(reply, "status", "token");
    },
    async kubeconfig(given = {}) {
      configs += 1;
      const path = join(folder, `kubeconfig-${configs}`);
      await writeFile(path, kubeconfigText(folder, port, token, given), { mode: 0o600 });
      return path;
    },
    auditLog: () => readAuditLog(folder),
    async kill(program) {
      const child = children.get(program);
      if (child) await stopChild(child);
    },
    async start(program) {
      spawnProgram(program);
      await waitUntilReady(program === "etcd" ? etcdFoundDeadlineMs : readyDeadlineMs);
    },
    pause: (program, isPaused) => void children.get(program)?.kill(isPaused ? "SIGSTOP" : "SIGCONT"),
  };
}

function findBinaries(): string | undefined {
  const { KUBEBUILDER_ASSETS, TOLLGATE_CLUSTER_CACHE } = process.env;
  const cache = TOLLGATE_CLUSTER_CACHE ?? join(homedir(), ".cache", "tollgate-cluster");
  const folders = [KUBEBUILDER_ASSETS, join(cache, "bin")];
  return folders.find(
    (folder) => folder && ["etcd", "kube-apiserver"].every((program) => existsSync(join(folder, program))),
  );
}

async function writeSecrets(folder: string, token: string): Promise<void> {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  await writeFile(join(folder, "account.key"), privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  await writeFile(join(folder, "tokens.csv"), `${token},admin,1,system:masters\n`, { mode: 0o600 });
  const policy = {
    apiVersion: "audit.k8s.io/v1",
    kind: "Policy",
    omitStages: ["RequestReceived"],
    rules: [{ level: "Metadata" }],
  };
  await writeFile(join(folder, "audit-policy.yaml"), stringify(policy));
}

function commandsOf(
  folder: string,
  { clientPort, peerPort, port }: { clientPort: number; peerPort: number; port: number },
  apiServerFlags: readonly string[],
) {
  const etcdUrl = `http://127.0.0.1:${clientPort}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  return {
    etcd: [
      `--data-dir=${join(folder, "etcd")}`,
      `--listen-client-urls=${etcdUrl}`,
      `--advertise-client-urls=${etcdUrl}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=default=${peerUrl}`,
      "--unsafe-no-fsync",
    ],
    "kube-apiserver": [
      `--etcd-servers=${etcdUrl}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${port}`,
      `--cert-dir=${join(folder, "certificates")}`,
      `--token-auth-file=${join(folder, "tokens.csv")}`,
      "--authorization-mode=RBAC",
      `--service-account-key-file=${join(folder, "account.key")}`,
      `--service-account-signing-key-file=${join(folder, "account.key")}`,
      "--service-account-issuer=https://kubernetes.default.svc",
      "--service-cluster-ip-range=10.96.0.0/16",
      `--audit-policy-file=${join(folder, "audit-policy.yaml")}`,
      `--audit-log-path=${join(folder, "audit.log")}`,
      ...apiServerFlags,
    ],
  };
}

/** What must not outlive the tests, whatever ends them. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

function run(binaries: string, folder: string, program: string, programArguments: readonly string[]): ChildProcess {
  const log = openSync(join(folder, `${program}.log`), "a");
  const child = spawn(join(binaries, program), programArguments, { stdio: ["ignore", log, log] });
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}

/** A port that nobody listens on; taken again at once by whoever gets its number. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("No free port.");
  return address.port;
}

async function isReady(call: ControlPlane["call"]): Promise<boolean> {
  try {
    return (await call("GET", "/readyz")).status === 200;
  } catch {
    // Not listening yet.
    return false;
  }
}

const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

async function installCrds(call: ControlPlane["call"], must: ControlPlane["must"]): Promise<void> {
  for (const file of crdFiles) {
    const text = await readFile(join(crdFolder, `${file}.yaml`), "utf8");
    const name = /^ {2}name: (\S+)/m.exec(text)?.[1] ?? "";
    await must("PATCH", `${crdPath}/${name}?fieldManager=test&force=true`, text, "application/apply-patch+yaml");
  }
  const deadline = performance.now() + readyDeadlineMs;
  for (const plural of ["accounts", "apikeys", "channels", "modelroutes"]) {
    while ((await call("GET", `/apis/tollgate.dev/v1alpha1/${plural}`)).status !== 200) {
      if (performance.now() > deadline) throw new Error(`The CRD of ${plural} is not served.`);
      await wait(50);
    }
  }
}

const rbac = "rbac.authorization.k8s.io";

const createAccount = async (
  must: ControlPlane["must"],
  namespace: string,
  name: string,
  rules: Parameters<ControlPlane["createAccount"]>[2],
): Promise<void> => {
  await must("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } });
  const subjects = [{ kind: "ServiceAccount", name, namespace }];
  for (const [where, namespaced] of Object.entries(rules.namespaced ?? {})) {
    const path = `/apis/${rbac}/v1/namespaces/${where}`;
    const metadata = { name: `${namespace}-${name}` };
    await must("POST", `${path}/roles`, { metadata, rules: namespaced });
    const roleRef = { apiGroup: rbac, kind: "Role", name: metadata.name };
    await must("POST", `${path}/rolebindings`, { metadata, roleRef, subjects });
  }
  if (rules.cluster === undefined) return;
  const metadata = { name: `${namespace}-${name}` };
  await must("POST", `/apis/${rbac}/v1/clusterroles`, { metadata, rules: rules.cluster });
  const roleRef = { apiGroup: rbac, kind: "ClusterRole", name: metadata.name };
  await must("POST", `/apis/${rbac}/v1/clusterrolebindings`, { metadata, roleRef, subjects });
};

function kubeconfigText(folder: string, apiPort: number, adminToken: string, options: KubeconfigOptions): string {
  const { port = apiPort, namespace = "default", tokenFile, token = adminToken } = options;
  const user = tokenFile === undefined ? { token } : { "auth-provider": { name: "tokenFile", config: { tokenFile } } };
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    clusters: [
      {
        name: "test",
        cluster: {
          server: `https://127.0.0.1:${port}`,
          "certificate-authority": join(folder, "certificates", "apiserver.crt"),
        },
      },
    ],
    users: [{ name: "test", user }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test", namespace } }],
  });
}

async function readAuditLog(folder: string): Promise<AuditEvent[]> {
  const text = await readFile(join(folder, "audit.log"), "utf8");
  const lines = text.slice(0, text.lastIndexOf("\n")).split("\n");
  return lines.map((line): AuditEvent => {
    const { verb, user, objectRef, responseStatus, userAgent, requestURI } = JSON.parse(line);
    return {
      verb,
      user: user.username,
      resource: objectRef?.resource,
      subresource: objectRef?.subresource,
      namespace: objectRef?.namespace,
      status: responseStatus?.code,
      userAgent,
      uri: requestURI,
    };
  });
}

function textAt(value: unknown, ...path: readonly string[]): string {
  let found: unknown = value;
  for (const member of path) {
    found =
      typeof found === "object" && found !== null
        ? Object.entries(found).find(([name]) => name === member)?.[1]
        : undefined;
  }
  if (typeof found !== "string") throw new Error(`The answer has no ${path.join(".")}.`);
  return found;
}

async function callApi(
  folder: string,
  port: number,
  agent: Agent,
  token: string,
  method: string,
  path: string,
  body: unknown,
  contentType: string,
): Promise<ApiReply> {
  const ca = await readFile(join(folder, "certificates", "apiserver.crt"), "utf8");
  const payload = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: "application/json", "content-type": contentType };
    const options = { host: "127.0.0.1", port, method, path, headers, ca, agent, timeout: 20_000 };
    const outgoing = request(options, (reply) => {
      const pieces: Buffer[] = [];
      reply.on("data", (piece: Buffer) => pieces.push(piece));
      reply.on("error", reject);
      reply.on("end", () => {
        const text = Buffer.concat(pieces).toString("utf8");
        const isJson = reply.headers["content-type"]?.startsWith("application/json") === true;
        resolve({ status: reply.statusCode ?? 0, body: isJson ? JSON.parse(text) : text });
      });
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("The API server did not answer in time.")));
    outgoing.on("error", reject);
    outgoing.end(payload);
  });
}
