/** Reads the settings of the push endpoint of an operator in a cluster from those of the command line. */
import { resolve } from "node:path";
import { defaultPeriods } from "#operator/certificates/authorities";
import type { FileTls, PushEndpointSettings, SelfManagedTls } from "#operator/settings";
import { parseAddress } from "./parse-value.ts";
import { type Settings, UsageError } from "./read-settings.ts";

/** @throws UsageError where settings do not fit each other */
export function toPushEndpointSettings(settings: Settings): PushEndpointSettings {
  const [firstName] = settings.list("push.tls.dnsNames");
  const serverName = settings.optionalText("push.serverName") ?? firstName;
  if (serverName === undefined) throw new UsageError(["--push-tls-dns-names must hold a name"]);
  return {
    listen: parseAddress(settings.text("push.listen")),
    tls: settings.text("push.tls.mode") === "Files" ? toFileTls(settings) : toSelfManagedTls(settings),
    configMap: settings.text("push.configMap"),
    serverName,
    audience: settings.text("push.audience"),
    proxyAccount: settings.text("push.proxyAccount"),
    operatorAccount: settings.text("push.operatorAccount"),
    tokenFile: resolve(settings.text("push.token")),
    proxyLabels: Object.fromEntries(
      settings.list("push.proxyLabels").map((label) => {
        const [name = "", value = ""] = label.split("=");
        return [name, value];
      }),
    ),
    lastGoodSecret: settings.optionalText("push.lastGoodSecret"),
  };
}

function toFileTls(settings: Settings): FileTls {
  const [certificateFile, privateKeyFile, bundleFile] = ["push.tls.cert", "push.tls.key", "push.tls.ca"].map((name) =>
    settings.optionalText(name),
  );
  if (certificateFile === undefined || privateKeyFile === undefined || bundleFile === undefined) {
    throw new UsageError(["--push-tls-mode Files needs --push-tls-cert, --push-tls-key and --push-tls-ca"]);
  }
  return {
    mode: "Files",
    certificateFile: resolve(certificateFile),
    privateKeyFile: resolve(privateKeyFile),
    bundleFile: resolve(bundleFile),
    checkEveryMs: settings.number("push.tls.check"),
  };
}

function toSelfManagedTls(settings: Settings): SelfManagedTls {
  const authorityLife = settings.optionalNumber("push.tls.authorityLife");
  const periods = {
    authorityLifeMs: authorityLife ?? defaultPeriods.authorityLifeMs,
    announceMs: settings.number("push.tls.announce"),
    leafLifeMs: settings.number("push.tls.leafLife"),
    checkEveryMs: settings.number("push.tls.check"),
  };
  // The last third of an authority's life must hold the announcement of the next one and the life of a last leaf.
  if (periods.announceMs + periods.leafLifeMs > periods.authorityLifeMs / 3) {
    throw new UsageError([
      "--push-tls-authority-life must be at least three times --push-tls-announce and --push-tls-leaf-life together",
    ]);
  }
  if (periods.checkEveryMs > periods.leafLifeMs / 6) {
    throw new UsageError(["--push-tls-leaf-life must be at least six times --push-tls-check"]);
  }
  return {
    mode: "SelfManaged",
    secret: settings.text("push.tls.secret"),
    dnsNames: settings.list("push.tls.dnsNames"),
    periods,
  };
}
