/**
 * A real etcd and a real Kubernetes API server on loopback, for tests against the genuine article.
 *
 * Binaries come from `KUBEBUILDER_ASSETS`, else from the cache of the test cluster (`TOLLGATE_CLUSTER_CACHE`, else
 * `~/.cache/tollgate-cluster`). Where there are none, `startControlPlane` says so and the suite skips loudly.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync, openSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

export interface ApiReply {
  readonly status: number;
  readonly body: unknown;
}

export interface ControlPlane {
  /** Sends one request as an administrator; `body` goes as JSON, or as it is when it is text. */
  call(method: string, path: string, body?: unknown, contentType?: string): Promise<ApiReply>;
  stop(): Promise<void>;
}

const readyDeadlineMs = 60_000;

/** @returns the running control plane, or why there can be none */
export async function startControlPlane(): Promise<ControlPlane | string> {
  const folder = findBinaries();
  if (folder === undefined) {
    return "no kube-apiserver: set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver";
  }
  const data = await mkdtemp(join(tmpdir(), "tollgate-control-plane-"));
  const [clientPort, peerPort, apiPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const token = randomBytes(24).toString("hex");
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  await writeFile(join(data, "account.key"), privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  await writeFile(join(data, "tokens.csv"), `${token},admin,1,system:masters\n`, { mode: 0o600 });
  const etcdUrl = `http://127.0.0.1:${clientPort}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  const children = [
    run(folder, data, "etcd", [
      `--data-dir=${join(data, "etcd")}`,
      `--listen-client-urls=${etcdUrl}`,
      `--advertise-client-urls=${etcdUrl}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=default=${peerUrl}`,
      "--unsafe-no-fsync",
    ]),
    run(folder, data, "kube-apiserver", [
      `--etcd-servers=${etcdUrl}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${apiPort}`,
      `--cert-dir=${join(data, "certificates")}`,
      `--token-auth-file=${join(data, "tokens.csv")}`,
      "--authorization-mode=RBAC",
      `--service-account-key-file=${join(data, "account.key")}`,
      `--service-account-signing-key-file=${join(data, "account.key")}`,
      "--service-account-issuer=https://kubernetes.default.svc",
      "--service-cluster-ip-range=10.96.0.0/16",
    ]),
  ];
  const stop = async (): Promise<void> => {
    await Promise.all(children.map(stopChild));
    await rm(data, { recursive: true, force: true, maxRetries: 5 });
  };
  const call: ControlPlane["call"] = (method, path, body, contentType = "application/json") =>
    callApi(data, apiPort, token, method, path, body, contentType);
  const deadline = performance.now() + readyDeadlineMs;
  while (!(await isReady(call))) {
    if (performance.now() > deadline || children.some((child) => child.exitCode !== null)) {
      const log = await readFile(join(data, "kube-apiserver.log"), "utf8");
      await stop();
      throw new Error(`The API server did not become ready. ${log.slice(-2000)}`);
    }
    await wait(100);
  }
  return { call, stop };
}

function findBinaries(): string | undefined {
  const { KUBEBUILDER_ASSETS, TOLLGATE_CLUSTER_CACHE } = process.env;
  const cache = TOLLGATE_CLUSTER_CACHE ?? join(homedir(), ".cache", "tollgate-cluster");
  const folders = [KUBEBUILDER_ASSETS, join(cache, "bin")];
  return folders.find(
    (folder) => folder && ["etcd", "kube-apiserver"].every((program) => existsSync(join(folder, program))),
  );
}

function run(folder: string, data: string, program: string, programArguments: readonly string[]): ChildProcess {
  const log = openSync(join(data, `${program}.log`), "a");
  const child = spawn(join(folder, program), programArguments, { stdio: ["ignore", log, log] });
  process.once("exit", () => child.kill("SIGKILL"));
  return child;
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}

async function freePort(): Promise<number> {
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

async function callApi(
  data: string,
  port: number,
  token: string,
  method: string,
  path: string,
  body: unknown,
  contentType: string,
): Promise<ApiReply> {
  const ca = await readFile(join(data, "certificates", "apiserver.crt"), "utf8");
  const payload = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: "application/json", "content-type": contentType };
    const outgoing = request({ host: "127.0.0.1", port, method, path, headers, ca, timeout: 20_000 }, (reply) => {
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
