/** Reads the settings of a proxy from those of the command line, and writes them as flags for a child process. */
import { hostname, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { isQuotaStore, stores } from "#proxy/admit/stores";
import type { ProxyLimits } from "#proxy/limits";
import type { OperatorAddress, ProxySettings, QuotaFailureMode, QuotaStore, RedisSettings } from "#proxy/settings";
import { parseAddress } from "./parse-value.ts";
import { type Settings, UsageError } from "./read-settings.ts";
import { settingsOf } from "./setting-list.ts";

/** @throws UsageError where settings do not fit each other */
export function toProxySettings(settings: Settings): ProxySettings {
  refuseInconsistentSettings(settings);
  const dataFolder = resolve(settings.text("data"));
  const store = toQuotaStore(settings);
  return {
    name: settings.optionalText("proxyName") ?? `${hostname()}-${process.pid}`,
    listen: parseAddress(settings.text("listen")),
    sharePort: settings.flag("sharePort"),
    admin: parseAddress(settings.text("admin")),
    operator: toOperatorAddress(settings),
    dataFolder,
    spoolFolder: toSpoolFolder(settings),
    trustedProxies: { hops: settings.number("trustedProxies.hops"), cidrs: settings.list("trustedProxies.cidrs") },
    limits: toLimits(settings),
    tls: toTls(settings),
    quota: {
      store,
      failureMode: toFailureMode(settings.text("quota.failureMode")),
      acceptEmpty: settings.flag("quota.acceptEmpty"),
      redis: toRedis(settings, store),
    },
    lastGood: toLastGood(settings, dataFolder),
  };
}

/** Where files of forms lie while their call is served. */
export function toSpoolFolder(settings: Settings): string {
  return resolve(settings.optionalText("spool") ?? tmpdir());
}

/** Checks settings before there is a proxy. @throws UsageError when settings do not fit each other */
export function refuseInconsistentSettings(settings: Settings): void {
  refuseShortStaleness(settings);
  toTls(settings);
  toRedis(settings, toQuotaStore(settings));
  toLastGood(settings, resolve(settings.text("data")));
}

/** An idle operator sends once a heartbeat: a shorter bound would refuse calls all the time. */
function refuseShortStaleness(settings: Settings): void {
  const boundMs = settings.number("keyStalenessBound");
  if (boundMs === 0 || boundMs >= 2 * settings.number("push.heartbeat")) return;
  throw new UsageError(["--key-staleness-bound must be 0s, or at least twice --push-heartbeat"]);
}

/** Every bound of `proxy/limits.ts` has its setting; a test compares the defaults of both. */
export function toLimits(settings: Settings): ProxyLimits {
  return {
    headersTimeoutMs: settings.number("timeouts.headers"),
    bodyIdleTimeoutMs: settings.number("timeouts.bodyIdle"),
    bodyTimeoutMs: settings.number("timeouts.body"),
    connectionsCheckMs: settings.number("timeouts.connectionsCheck"),
    headerCountMax: settings.number("limits.headerCount"),
    headerBytesMax: settings.number("limits.headerBytes"),
    targetBytesMax: settings.number("limits.targetBytes"),
    jsonBodyBytesMax: settings.number("limits.jsonBody"),
    jsonDepthMax: settings.number("limits.jsonDepth"),
    jsonKeysMax: settings.number("limits.jsonKeys"),
    formBytesMax: settings.number("limits.form"),
    formFileBytesMax: settings.number("limits.formFile"),
    formFieldBytesMax: settings.number("limits.formFields"),
    formPartsMax: settings.number("limits.formParts"),
    formTimeoutMs: settings.number("timeouts.form"),
    spoolBytesMax: settings.number("limits.spoolBytes"),
    inFlightBytesMax: settings.number("limits.inFlightBytes"),
    inFlightRequestsMax: settings.number("limits.inFlightRequests"),
    connectionsMax: settings.number("limits.connections"),
    connectionsPerAddressMax: toConnectionsPerAddress(settings),
    keepAliveTimeoutMs: settings.number("timeouts.keepAlive"),
    eventBytesMax: settings.number("limits.eventBytes"),
    replyBodyBytesMax: settings.number("limits.replyBody"),
    slowReaderTimeoutMs: settings.number("timeouts.slowReader"),
    clientSilenceMs: settings.number("timeouts.clientSilence"),
    realtimeSessionMs: settings.number("timeouts.realtimeSession"),
    realtimeMessageBytesMax: settings.number("limits.realtimeMessage"),
    realtimePingMs: settings.number("timeouts.realtimePing"),
    connectTimeoutMs: settings.number("timeouts.connect"),
    firstByteTimeoutMs: settings.number("timeouts.firstByte"),
    firstByteStreamTimeoutMs: settings.number("timeouts.firstByteStream"),
    streamIdleTimeoutMs: settings.number("timeouts.streamIdle"),
    totalTimeoutMs: settings.number("timeouts.total"),
    upstreamHeaderBytesMax: settings.number("limits.upstreamHeaderBytes"),
    reservationTtlMs: settings.number("quota.reservationTtl"),
    endpointLagMs: settings.number("drain.endpointLag"),
    drainTimeoutMs: settings.number("drain.timeout"),
    keyStalenessMaxMs: settings.number("keyStalenessBound"),
    pushHeartbeatMs: settings.number("push.heartbeat"),
    pushDeadMs: settings.number("push.dead"),
  };
}

/** By default one address alone never takes the last connection, and a balancer in front still gets half of them. */
function toConnectionsPerAddress(settings: Settings): number {
  const given = settings.optionalNumber("limits.connectionsPerAddress");
  return given ?? Math.ceil(settings.number("limits.connections") / 2);
}

function toOperatorAddress(settings: Settings): OperatorAddress {
  const text = settings.text("operator");
  if (text.startsWith("unix:")) return { kind: "unix", path: resolve(text.slice("unix:".length)) };
  const caFile = settings.optionalText("push.tls.ca");
  if (caFile === undefined) {
    throw new UsageError(["--operator https://... needs --push-tls-ca, the file of the authorities to trust"]);
  }
  return {
    kind: "https",
    url: text,
    serverName: settings.optionalText("push.serverName"),
    caFile: resolve(caFile),
    tokenFile: resolve(settings.text("push.token")),
  };
}

function toTls(settings: Settings): ProxySettings["tls"] {
  const certFile = settings.optionalText("tls.cert");
  const keyFile = settings.optionalText("tls.key");
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined)
    throw new UsageError(["--tls-cert and --tls-key belong together: one of them is missing"]);
  return { certFile: resolve(certFile), keyFile: resolve(keyFile) };
}

/** @throws UsageError for a store that has no row: another store would keep other promises */
export function toQuotaStore(settings: Settings): QuotaStore {
  const name = settings.text("quota.store");
  if (isQuotaStore(name)) return name;
  const known = Object.keys(stores).join(", ");
  throw new UsageError([`${settings.source("quota.store")} must be one of ${known}: there is no store ${name}`]);
}

/** @throws UsageError for the store Redis without an address */
function toRedis(settings: Settings, store: QuotaStore): RedisSettings | undefined {
  if (store !== "Redis") return undefined;
  const url = settings.optionalText("quota.redis.url");
  if (url === undefined)
    throw new UsageError(["--quota-store Redis needs --quota-redis-url, the address of the store"]);
  const passwordFile = settings.optionalText("quota.redis.passwordFile");
  return {
    url,
    passwordFile: passwordFile === undefined ? undefined : resolve(passwordFile),
    hashTag: settings.text("quota.redis.hashTag"),
    decisionTimeoutMs: settings.number("quota.redis.decisionTimeout"),
  };
}

function toFailureMode(text: string): QuotaFailureMode {
  return text === "Closed" || text === "Open" ? text : "BalancesClosed";
}

function toLastGood(settings: Settings, dataFolder: string): ProxySettings["lastGood"] {
  const keyFile = settings.optionalText("lastGood.keyFile");
  const file = settings.optionalText("lastGood.file");
  if (keyFile === undefined) {
    if (file !== undefined)
      throw new UsageError(["--last-good-file needs --last-good-key-file: the file is only ever written encrypted"]);
    return undefined;
  }
  return { file: resolve(file ?? join(dataFolder, "last-good.bin")), keyFile: resolve(keyFile) };
}

/** Flags that give a child proxy the same values; `overrides` by name of the setting. */
export function toProxyFlags(settings: Settings, overrides: Readonly<Record<string, string>>): string[] {
  return settingsOf("proxy").flatMap((setting) => {
    const text = overrides[setting.name] ?? settings.written(setting.name);
    if (text === undefined) return [];
    if (setting.type === "boolean") return text === "true" ? [setting.flag] : [`--no-${setting.flag.slice(2)}`];
    return [`${setting.flag}=${text}`];
  });
}
