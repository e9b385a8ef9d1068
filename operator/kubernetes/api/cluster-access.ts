/**
 * Finds the API server and the credentials for it: from a kubeconfig, else from the pod's ServiceAccount.
 *
 * `@kubernetes/client-node` reads the configuration (kubeconfig with contexts, files and data, client certificates,
 * in-cluster token and CA). It is read again each minute and after a 401, because tokens and CAs rotate while the
 * operator runs. Invariant: when the configuration cannot be read again, the one before stays in force.
 */
import { Agent, type AgentOptions, type RequestOptions } from "node:https";
import { KubeConfig } from "@kubernetes/client-node";

export interface ClusterAccessOptions {
  /** Path of a kubeconfig. Undefined: `KUBECONFIG`, `~/.kube/config`, then the pod's ServiceAccount. */
  readonly kubeconfig?: string | undefined;
  /** A context of it. Undefined: the current one. */
  readonly context?: string | undefined;
  /** Credentials older than this are read again; a minute by default. */
  readonly maxAgeMs?: number | undefined;
}

/** The parts of a request that come from the configuration. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: Agent;
}

interface Reading {
  readonly server: URL;
  readonly namespace: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: AgentOptions;
  /** An agent of the library where the kubeconfig names a proxy. */
  readonly proxyAgent: Agent | undefined;
}

/** First wait of TCP keepalive: shorter than what load balancers forget idle connections after. */
const keepAliveProbeMs = 15_000;
/** Idle connections kept for the next calls. */
const freeSocketsMax = 4;

export class ClusterAccess {
  readonly #options: ClusterAccessOptions;
  readonly #maxAgeMs: number;
  #reading: Reading;
  #agent: Agent;
  #readAtMs: number;

  private constructor(options: ClusterAccessOptions, reading: Reading) {
    this.#options = options;
    this.#maxAgeMs = options.maxAgeMs ?? 60_000;
    this.#reading = reading;
    this.#agent = agentOf(reading);
    this.#readAtMs = performance.now();
  }

  /** @throws Error when there is no configuration, or it names no API server over HTTPS. */
  static async load(options: ClusterAccessOptions = {}): Promise<ClusterAccess> {
    return new ClusterAccess(options, await read(options));
  }

  /** The API server's address; it may have a path of its own in front of all others. */
  get server(): URL {
    return this.#reading.server;
  }

  /** Namespace of the context, or of the pod. */
  get namespace(): string | undefined {
    return this.#reading.namespace;
  }

  /** Credentials as they are now; never fails, as the ones before stay in force. */
  async credentials(): Promise<Credentials> {
    if (performance.now() - this.#readAtMs >= this.#maxAgeMs) await this.#readAgain();
    return { headers: this.#reading.headers, agent: this.#agent };
  }

  /** The API server refused the credentials: the next request reads them again. */
  forget(): void {
    this.#readAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Lets go of idle connections: after one broke, the others have often broken too. */
  dropIdleConnections(): void {
    for (const sockets of Object.values(this.#agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }

  /** Ends all connections. */
  close(): void {
    this.#agent.destroy();
  }

  async #readAgain(): Promise<void> {
    this.#readAtMs = performance.now();
    let next: Reading;
    try {
      next = await read(this.#options);
    } catch {
      // The file is being replaced or is gone: the present credentials may still work, and a 401 tells when not.
      return;
    }
    const isSameTls = JSON.stringify(next.tls) === JSON.stringify(this.#reading.tls);
    this.#reading = next;
    if (isSameTls) return;
    // Streams on the old connections live on until they end by themselves.
    this.dropIdleConnections();
    this.#agent = agentOf(next);
  }
}

async function read({ kubeconfig, context }: ClusterAccessOptions): Promise<Reading> {
  const config = new KubeConfig();
  if (kubeconfig === undefined) config.loadFromDefault();
  else config.loadFromFile(kubeconfig);
  if (context !== undefined) config.setCurrentContext(context);
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new Error(`The kubeconfig has no cluster for context ${config.getCurrentContext() || "(none)"}.`);
  }
  // The library falls back to this address when it finds no configuration.
  if (kubeconfig === undefined && cluster.server === "http://localhost:8080") {
    throw new Error(
      "There is no cluster to watch: no KUBECONFIG, no ~/.kube/config and no pod's ServiceAccount. Name a kubeconfig, or a folder with --manifests.",
    );
  }
  const server = new URL(cluster.server);
  // Anybody on the network could read a token sent over plain HTTP.
  if (server.protocol !== "https:") throw new Error(`The API server ${cluster.server} must be reached over https.`);
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = String(value).trim();
  if (typeof options.auth === "string")
    headers["authorization"] = `Basic ${Buffer.from(options.auth).toString("base64")}`;
  const isProxied = cluster.proxyUrl !== undefined && cluster.proxyUrl !== "";
  if (isProxied && !(options.agent instanceof Agent)) {
    // A direct connection would bypass the proxy that the kubeconfig demands.
    throw new Error(`The proxy-url of the cluster ${cluster.name} must be an http or https proxy.`);
  }
  return {
    server,
    namespace: config.getContextObject(config.getCurrentContext())?.namespace,
    headers,
    tls: tlsOf(options),
    proxyAgent: isProxied && options.agent instanceof Agent ? options.agent : undefined,
  };
}

function tlsOf({ ca, cert, key, servername, rejectUnauthorized }: RequestOptions): AgentOptions {
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(servername !== undefined && { servername }),
    ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
  };
}

function agentOf({ tls, proxyAgent }: Reading): Agent {
  return (
    proxyAgent ??
    new Agent({ ...tls, keepAlive: true, keepAliveMsecs: keepAliveProbeMs, maxFreeSockets: freeSocketsMax })
  );
}
