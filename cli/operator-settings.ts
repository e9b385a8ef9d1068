/** Settings of the command line -> what an operator is started with. */
import { tmpdir } from "node:os";
import { isAbsolute, relative, resolve } from "node:path";
import type { OperatorSettings } from "../operator/settings.ts";
import { parseAddress } from "./parse-value.ts";
import { pushSocketPath } from "./proxy-settings.ts";
import type { Settings } from "./read-settings.ts";

export function toOperatorSettings(settings: Settings): OperatorSettings {
  return {
    manifests: pathAsPeopleKnowIt(settings.text("manifests")),
    dataFolder: resolve(settings.text("data")),
    pushSocket: pushSocketPath(settings, tmpdir()),
    admin: parseAddress(settings.text("operatorAdmin")),
    fleet: toFleetSettings(settings),
    push: { heartbeatMs: settings.number("push.heartbeat"), deadMs: settings.number("push.dead") },
  };
}

/** Below the working directory relative to it, as it stands in every line about a manifest; else absolute. */
function pathAsPeopleKnowIt(path: string): string {
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
