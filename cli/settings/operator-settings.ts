/** Reads the settings of an operator from those of the command line. */
import { hostname, tmpdir } from "node:os";
import { isAbsolute, relative, resolve } from "node:path";
import type { ClusterSettings, CommonSettings, FolderOperatorSettings, OperatorSettings } from "#operator/settings";
import { parseAddress } from "./parse-value.ts";
import { toPushEndpointSettings } from "./push-endpoint-settings.ts";
import { type Settings, UsageError } from "./read-settings.ts";
import { lockSocketPath, pushSocketPath } from "./socket-paths.ts";

/** Settings of an operator that reads a folder. */
export function toFolderOperatorSettings(settings: Settings): FolderOperatorSettings {
  return {
    ...toCommonSettings(settings),
    manifests: displayPath(settings.text("manifests")),
    lockSocket: lockSocketPath(settings, tmpdir()),
  };
}

/** Settings of `tollgate operator`: it reads the folder when one is named, else the cluster. */
export function toOperatorSettings(settings: Settings): OperatorSettings {
  if (settings.optionalText("manifests") !== undefined) return toFolderOperatorSettings(settings);
  return { ...toCommonSettings(settings), cluster: toClusterSettings(settings) };
}

function toClusterSettings(settings: Settings): ClusterSettings {
  const podIp = settings.text("kubernetes.podIp");
  const lease = {
    name: settings.text("lease.name"),
    leaseDurationMs: settings.number("lease.duration"),
    renewDeadlineMs: settings.number("lease.renewDeadline"),
    retryPeriodMs: settings.number("lease.retryPeriod"),
  };
  if (
    lease.renewDeadlineMs + lease.retryPeriodMs > lease.leaseDurationMs ||
    lease.retryPeriodMs >= lease.renewDeadlineMs
  ) {
    throw new UsageError([
      "--lease-duration must be at least --lease-renew-deadline and --lease-retry-period together, and the deadline longer than the period",
    ]);
  }
  const [serverTimeoutMinMs, serverTimeoutMaxMs] = [
    settings.number("watch.timeoutMin"),
    settings.number("watch.timeoutMax"),
  ];
  if (serverTimeoutMinMs > serverTimeoutMaxMs)
    throw new UsageError(["--watch-timeout-min must not be longer than --watch-timeout-max"]);
  return {
    kubeconfig: settings.optionalText("kubernetes.kubeconfig"),
    context: settings.optionalText("kubernetes.context"),
    watchNamespaces: settings.list("kubernetes.watchNamespaces"),
    watchesNamespaces: settings.flag("kubernetes.namespaceSelectors"),
    generatesKeys: settings.flag("kubernetes.generateKeys"),
    namespace: settings.optionalText("kubernetes.namespace"),
    owner: settings.optionalText("kubernetes.owner"),
    podName: settings.optionalText("kubernetes.podName") ?? hostname().toLowerCase(),
    peerAddress: `${podIp.includes(":") ? `[${podIp}]` : podIp}:${parseAddress(settings.text("push.listen")).port}`,
    lease,
    watch: {
      serverTimeoutMinMs,
      serverTimeoutMaxMs,
      bookmarkEveryMs: settings.number("watch.bookmarks"),
      idleMs: settings.number("watch.idle"),
      silenceMs: settings.number("watch.silence"),
      probeTimeoutMs: settings.number("watch.probeTimeout"),
      probeEveryMs: settings.number("watch.probeEvery"),
      backoffMinMs: settings.number("watch.backoffMin"),
      backoffMaxMs: settings.number("watch.backoffMax"),
      compareEveryMs: settings.number("watch.compare"),
      pageSize: settings.number("watch.pageSize"),
    },
    push: toPushEndpointSettings(settings),
  };
}

function toCommonSettings(settings: Settings): CommonSettings {
  return {
    dataFolder: resolve(settings.text("data")),
    pushSocket: pushSocketPath(settings, tmpdir()),
    admin: parseAddress(settings.text("operatorAdmin")),
    fleet: toFleetSettings(settings),
    // An operator cannot know how many proxies will connect, so counts of each proxy alone are no quota.
    quotaScope: settings.text("quota.store") === "Memory" ? "PerProxy" : "Exact",
    push: { heartbeatMs: settings.number("push.heartbeat"), deadMs: settings.number("push.dead") },
  };
}

/** Relative to the working directory for a path below it, because every line about a manifest shows it; else absolute. */
function displayPath(path: string): string {
  const fromHere = relative(process.cwd(), resolve(path));
  return fromHere.startsWith("..") || isAbsolute(fromHere) ? resolve(path) : fromHere || ".";
}

/** What every proxy enforces alike. */
export function toFleetSettings(settings: Settings): OperatorSettings["fleet"] {
  return {
    requireAccount: settings.flag("quota.requireAccount"),
    unboundedOutput: settings.text("quota.unboundedOutput") === "Cap" ? "Cap" : "Reserve",
    inputEstimate: settings.text("quota.inputEstimate") === "Upper" ? "Upper" : "Estimate",
    defaultOutputReserve: settings.number("quota.defaultOutputReserve"),
    revocation: settings.text("revocation") === "Immediate" ? "Immediate" : "Finish",
    egressAllowCIDRs: [...settings.list("egress.allowCIDRs")],
  };
}

/**
 * The items of `secrets.fromEnvironment` whose variables are set; the form of each was checked when it was read.
 *
 * @returns also those that are not set, and the names of all variables named
 */
export function readEnvironmentSecrets(settings: Settings, environment: Readonly<Record<string, string | undefined>>) {
  const items = settings.list("secrets.fromEnvironment").map((item) => {
    const [place = "", variable = ""] = item.split("=");
    const [namespace = "", name = "", key = ""] = place.split("/");
    return { namespace, name, key, variable };
  });
  const secrets = items.flatMap(({ variable, ...place }) => {
    const value = environment[variable] ?? "";
    return value === "" ? [] : [{ ...place, value }];
  });
  const awaited = items.filter(({ variable }) => (environment[variable] ?? "") === "");
  return { secrets, awaited, variables: items.map(({ variable }) => variable) };
}
