/**
 * Settings of an operator as plain values that have been checked. `cli/` fills them from flags, variables and the file;
 * tests write them by hand.
 */
import type { Fleet } from "#proxy/snapshot/types.gen";
import type { CertificatePeriods } from "./certificates/authorities.ts";
import type { CertificateFiles } from "./certificates/file-certificates.ts";
import type { QuotaScope } from "./compile/limits/hard-quotas.ts";
import type { LeaseTimings } from "./kubernetes/leader-election/lease-elector.ts";
import type { WatchTimings } from "./kubernetes/watch/timings.ts";
import type { SecretFromEnvironment } from "./source/environment-secrets.ts";
import type { AwaitedSecret } from "./status/console-reporter.ts";

/** The address of a port. Port 0 uses a free one. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Settings of every operator, whichever source it reads. */
export interface CommonSettings {
  /** For generated keys, status and the push socket; created with mode 0700. */
  readonly dataFolder: string;
  /** Unix socket that proxies connect to; at most 107 bytes as the shorter of its absolute and relative spelling. */
  readonly pushSocket: string;
  /** Admin port: health, readiness, metrics, view of the fleet. Undefined: none is opened. */
  readonly admin: ListenAddress | undefined;
  /** What every proxy enforces alike; published as `setting/fleet`. */
  readonly fleet: Omit<Fleet, "kind" | "name">;
  /** `PerProxy` where several proxies count each for itself: objects with hard quotas are refused. Exact by default. */
  readonly quotaScope?: QuotaScope;
  readonly push: {
    /** Time between two signs of life, in both directions. */
    readonly heartbeatMs: number;
    /** Silence after which a connection counts as broken. */
    readonly deadMs: number;
  };
}

/** An operator that reads a folder: the standalone mode. */
export interface FolderOperatorSettings extends CommonSettings {
  /** Folder of manifests, watched while running. */
  readonly manifests: string;
  /** Secrets whose values come from the environment; a manifest of the same name goes before them. */
  readonly secretsFromEnvironment?: readonly SecretFromEnvironment[];
  /** Those whose variables are not set: reported as information, because nothing is broken. */
  readonly secretsAwaited?: readonly AwaitedSecret[];
  /** Unix socket by which one operator keeps the data folder for itself; undefined: nothing keeps another away. */
  readonly lockSocket?: string;
  readonly cluster?: undefined;
}

/** The place of an operator in its cluster, and its permissions. */
export interface ClusterSettings {
  /** Path of a kubeconfig; undefined: the usual places, then the pod's ServiceAccount. */
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  /** Namespaces whose resources are used; empty: all. */
  readonly watchNamespaces: readonly string[];
  /** Watches Namespaces too, which selectors of namespaces need. */
  readonly watchesNamespaces: boolean;
  /** Makes the Secrets that `generate` credentials ask for. */
  readonly generatesKeys: boolean;
  /** The operator's own namespace; undefined: that of the pod or of the context. */
  readonly namespace: string | undefined;
  /** ConfigMap there that owns the objects that the operators make for themselves; undefined: they have no owner. */
  readonly owner: string | undefined;
  /** Distinct among all operators. */
  readonly podName: string;
  /** Host and port at which the other operators reach this one's push endpoint: `10.0.0.3:8443`. */
  readonly peerAddress: string;
  readonly lease: LeaseTimings & { readonly name: string };
  readonly watch: Partial<WatchTimings>;
  readonly push: PushEndpointSettings;
}

/** The push endpoint over TLS. All names are of objects in the operator's own namespace. */
export interface PushEndpointSettings {
  readonly listen: ListenAddress;
  readonly tls: SelfManagedTls | FileTls;
  /** ConfigMap of the bundle that proxies trust, and of the epoch. */
  readonly configMap: string;
  /** Name in every operator's certificate. */
  readonly serverName: string;
  /** Of the tokens that proxies and operators show. */
  readonly audience: string;
  /** Names of the ServiceAccounts. */
  readonly proxyAccount: string;
  readonly operatorAccount: string;
  /** The operator's own token of that audience. */
  readonly tokenFile: string;
  /** Labels that all proxy pods bear, and no others. */
  readonly proxyLabels: Readonly<Record<string, string>>;
  /** Secret of the key of the proxies' last good files; undefined: none is made. */
  readonly lastGoodSecret: string | undefined;
}

export interface SelfManagedTls {
  readonly mode: "SelfManaged";
  /** Secret of the authorities. */
  readonly secret: string;
  readonly dnsNames: readonly string[];
  readonly periods: CertificatePeriods;
}

/** The certificate is renewed outside of the operator: by cert-manager or by hand. */
export interface FileTls extends CertificateFiles {
  readonly mode: "Files";
  readonly checkEveryMs: number;
}

/** An operator that watches the API server of a cluster. */
export interface ClusterOperatorSettings extends CommonSettings {
  readonly cluster: ClusterSettings;
  readonly manifests?: undefined;
}

export type OperatorSettings = FolderOperatorSettings | ClusterOperatorSettings;

/** The part of a logger that the operator uses. */
export interface OperatorLog {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** The output that the surrounding program gives to an operator, which touches neither `process` nor a terminal. */
export interface OperatorIo {
  readonly log: OperatorLog;
}

export interface OperatorAddresses {
  readonly pushSocket: string;
  /** Undefined: no admin port. */
  readonly admin: ListenAddress | undefined;
}

/** A running operator. */
export interface RunningOperator {
  readonly addresses: OperatorAddresses;
  /** Stops watching, closes the streams of proxies and closes all ports. */
  close(): Promise<void>;
}
