/**
 * Several operators' push endpoints over real TLS on loopback addresses of their own and one port, and proxies' clients
 * that find them as a headless Service would show them. The API server is played by `TokenIssuer` and `MemoryOwnedData`.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { type CertificatePeriods, defaultPeriods } from "#operator/certificates/authorities";
import { SelfManagedCertificates } from "#operator/certificates/self-managed-certificates";
import type { ExpectedProxies } from "#operator/kubernetes/installation/expected-proxies";
import type { Leadership } from "#operator/kubernetes/leader-election/leadership";
import { Fleet } from "#operator/push/fleet";
import { Publisher } from "#operator/push/publisher";
import { PeerSummaries } from "#operator/push/replicas/peer-summaries";
import { StoredEpochs } from "#operator/push/versions/epoch";
import { ResourceUids } from "#operator/push/versions/resource-uids";
import { type SourcePosition, SourceProgress } from "#operator/push/versions/source-progress";
import { MutableResourceSet } from "#operator/resources/mutable-resource-set";
import { prepareEndpoint } from "#operator/run/push-endpoint";
import type { Report } from "#proxy/snapshot/push/messages";
import type { WireObject } from "#proxy/snapshot/types.gen";
import { PushClient, type PushClientEvent } from "#proxy/sync/push-client";
import { SnapshotStore } from "#proxy/sync/snapshot-store";
import { tlsTransport } from "#proxy/sync/tls-transport";
import { byId } from "#test/support/push-rig";
import { MemoryOwnedData } from "./memory-owned-data.ts";
import { accounts, audience, TokenIssuer } from "./tokens.ts";

export const serverName = "tollgate-push.tollgate.svc";

export interface RigOperator {
  readonly name: string;
  readonly address: string;
  readonly publisher: Publisher;
  readonly fleet: Fleet;
  readonly certificates: SelfManagedCertificates;
  readonly registry: Registry;
  readonly reports: { readonly proxy: string; readonly report: Report }[];
  readonly messages: string[];
  versions: SourcePosition;
  /** What the source says when asked afresh. */
  sourceWentBack: boolean;
  /** A pass of the pipeline: everything that `objects` lacks is removed. */
  publish(objects: readonly WireObject[], versions?: SourcePosition): void;
  close(): Promise<void>;
}

export interface TlsRigProxy {
  readonly name: string;
  readonly store: SnapshotStore;
  readonly client: PushClient;
  readonly events: PushClientEvent[];
  readonly caFile: string;
  readonly tokenFile: string;
  /** Addresses that the Service shows to this proxy. */
  addresses: readonly string[];
  close(): Promise<void>;
}

export interface TlsRigOptions {
  readonly periods?: CertificatePeriods;
  readonly heartbeatMs?: number;
  readonly deadMs?: number;
}

const noVersions: SourcePosition = { seen: {}, complete: {} };

export class TlsRig {
  readonly issuer = new TokenIssuer();
  readonly secret = new MemoryOwnedData();
  readonly bundle = new MemoryOwnedData();
  readonly epochs = new MemoryOwnedData();
  readonly operators: RigOperator[] = [];
  readonly proxies: TlsRigProxy[] = [];
  readonly folder: string;
  readonly #options: TlsRigOptions;
  readonly #expected = new Set<string>();
  readonly #listeners = new Set<() => void>();
  #isExpectedKnown = false;
  #leader: string | undefined;
  #port = 0;

  private constructor(folder: string, options: TlsRigOptions) {
    this.folder = folder;
    this.#options = options;
  }

  static async start(options: TlsRigOptions = {}): Promise<TlsRig> {
    return new TlsRig(await mkdtemp(join(tmpdir(), "tollgate-tls-")), options);
  }

  get port(): number {
    return this.#port;
  }

  /** @param name distinguishes this run; the pod's name too */
  async operator(name: string, objects: readonly WireObject[] = [], versions = noVersions): Promise<RigOperator> {
    const address = `127.0.0.${this.operators.length + 1}`;
    const publisher = new Publisher();
    const registry = new Registry();
    const messages: string[] = [];
    const log = {
      info: (message: string) => messages.push(message),
      warn: (message: string) => messages.push(message),
      error: (message: string) => messages.push(message),
    };
    const certificates = new SelfManagedCertificates({
      secret: this.secret,
      bundle: this.bundle,
      dnsNames: [serverName],
      log,
      periods: this.#options.periods ?? defaultPeriods,
    });
    const tokenFile = join(this.folder, `${name}.token`);
    await writeFile(tokenFile, this.issuer.issue({ pod: name, username: accounts.operator }));
    const progress = new SourceProgress(() => operator.versions);
    const reports: RigOperator["reports"] = [];
    const expected = this.#expectedProxies();
    const summaries = new PeerSummaries(this.#options.deadMs ?? 30_000);
    const fleet = new Fleet(publisher, { peers: summaries, expected, graceMs: 300 });
    const endpoint = prepareEndpoint({
      publisher,
      fleet,
      summaries,
      registry,
      log,
      operator: name,
      heartbeatMs: this.#options.heartbeatMs ?? 10_000,
      deadMs: this.#options.deadMs ?? 30_000,
      certificates,
      reviewer: this.issuer,
      audience,
      accounts,
      leadership: this.#leadershipOf(address),
      expected,
      epochs: new StoredEpochs(this.epochs),
      progress,
      uids: new ResourceUids(new MutableResourceSet()),
      sourceWentBack: async () => operator.sourceWentBack,
      onRefusedAsDeleted: () => undefined,
      listBehind: () => undefined,
      serverName,
      tokenFile,
      onReport: (proxy, report) => reports.push({ proxy, report }),
    });
    const operator: RigOperator = {
      name,
      address,
      publisher,
      fleet,
      certificates,
      registry,
      reports,
      messages,
      versions,
      sourceWentBack: false,
      publish(next, nextVersions) {
        if (nextVersions !== undefined) operator.versions = nextVersions;
        const onPublished = progress.beginPass();
        const wanted = byId(...next);
        const removes = [...publisher.snapshot.objects()].map(([id]) => id).filter((id) => !wanted.has(id));
        publisher.publishChanges({ upserts: wanted, removes, onPublished });
      },
      async close() {
        publisher.close();
        await endpoint.close();
      },
    };
    operator.publish(objects);
    const opened = await endpoint.open({ host: address, port: this.#port });
    this.#port = opened?.port ?? 0;
    this.operators.push(operator);
    return operator;
  }

  /**
   * @param options.pod name that the token bears; the proxy's own by default
   * @param options.port of something before the operators
   * @param options.capabilities none for a proxy of an older version
   */
  async proxy(
    name: string,
    options: { pod?: string; addresses?: readonly string[]; port?: number; capabilities?: readonly string[] } = {},
  ) {
    const { pod = name, addresses, port = this.#port, capabilities } = options;
    const caFile = join(this.folder, `${name}.ca`);
    const tokenFile = join(this.folder, `${name}.token`);
    await Promise.all([writeFile(caFile, this.trusted), writeFile(tokenFile, this.issuer.issue({ pod }))]);
    const store = new SnapshotStore();
    const events: PushClientEvent[] = [];
    const client = new PushClient({
      transport: tlsTransport({
        url: `https://push.test:${port}`,
        serverName,
        caFile,
        tokenFile,
        replyTimeoutMs: 5_000,
        resolve: async () => proxy.addresses,
      }),
      store,
      proxy: name,
      build: "test",
      heartbeatMs: this.#options.heartbeatMs ?? 10_000,
      deadMs: this.#options.deadMs ?? 30_000,
      onEvent: (event) => events.push(event),
      ...(capabilities !== undefined && { capabilities }),
    });
    const proxy: TlsRigProxy = {
      name,
      store,
      client,
      events,
      caFile,
      tokenFile,
      addresses: addresses ?? this.operators.map(({ address }) => address),
      close: () => client.close(),
    };
    this.proxies.push(proxy);
    client.start();
    return proxy;
  }

  /** What proxies find in the mounted ConfigMap. */
  get trusted(): string {
    return this.bundle.data?.["ca.crt"] ?? "";
  }

  lead(operator: RigOperator | undefined): void {
    this.#leader = operator?.address;
    this.#tell();
  }

  /** The cluster says which proxies are ready. */
  expect(...names: string[]): void {
    this.#isExpectedKnown = true;
    this.#expected.clear();
    for (const name of names) this.#expected.add(name);
    this.#tell();
  }

  async close(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
    await Promise.all(this.operators.map((operator) => operator.close()));
    await rm(this.folder, { recursive: true, force: true });
  }

  #leadershipOf(address: string): Leadership {
    return {
      isLeader: () => this.#leader === address,
      leaderAddress: () => (this.#leader === undefined ? undefined : `${this.#leader}:${this.#port}`),
      onChange: (listener) => this.#listen(listener),
    };
  }

  #expectedProxies(): ExpectedProxies {
    const known = () => (this.#isExpectedKnown ? this.#expected : undefined);
    return {
      get ready() {
        return known();
      },
      get present() {
        return known();
      },
      onChange: (listener) => this.#listen(listener),
    };
  }

  #listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
