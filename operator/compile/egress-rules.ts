/**
 * Judges a channel's base URL before anything connects (RELIABILITY.md EG2).
 *
 * Literal addresses are judged here in whatever spelling they come (decimal, octal, short: the URL parser brings them
 * to one); names only where they always mean this machine or a metadata service. The proxy judges every address
 * again at connect, because a name may change what it points to.
 */
import type { EgressPolicy } from "#proxy/snapshot/egress-policy";

const metadataNames: ReadonlySet<string> = new Set(["metadata.google.internal", "metadata", "instance-data"]);
const ownNames: ReadonlySet<string> = new Set(["localhost", "ip6-localhost", "ip6-loopback"]);

/** Why a URL may not be called, as a sentence; undefined when it may. */
export function refuseURL(url: string, policy: EgressPolicy, field: string): string | undefined {
  const parsed = parseURL(url);
  if (!parsed) return `${field}: "${url}" is no absolute http or https URL.`;
  if (parsed.username !== "" || parsed.password !== "")
    return `${field}: remove the user and password; use credentials.`;
  if (parsed.search !== "" || parsed.hash !== "") return `${field}: remove what follows ? or #.`;
  const host = parsed.hostname
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();
  if (metadataNames.has(host)) return `${field}: ${host} is a metadata service and is never called.`;
  if (ownNames.has(host) || host.endsWith(".localhost")) {
    if (policy.judge("127.0.0.1") === "allowed" || policy.judge("::1") === "allowed") return undefined;
    return `${field}: ${host} is this machine; add 127.0.0.0/8 to the setting egress.allowCIDRs (in the chart proxy.egress.allowCIDRs) to allow it.`;
  }
  switch (policy.judge(host)) {
    case "forbidden":
      return `${field}: ${host} is a link-local, metadata or multicast address and is never called.`;
    case "private":
      return `${field}: ${host} is a private address; add its network to the setting egress.allowCIDRs (in the chart proxy.egress.allowCIDRs) to allow it.`;
    default:
      return undefined;
  }
}

/** Whether a URL leads to a place that no setting opens: said of the target behind an egress proxy too. */
export function isForbiddenURL(url: string, policy: EgressPolicy): boolean {
  const host =
    parseURL(url)
      ?.hostname.replace(/^\[|\]$/g, "")
      .replace(/\.$/, "")
      .toLowerCase() ?? "";
  return metadataNames.has(host) || policy.judge(host) === "forbidden";
}

function parseURL(url: string): URL | undefined {
  const parsed = URL.parse(url);
  return parsed && (parsed.protocol === "http:" || parsed.protocol === "https:") ? parsed : undefined;
}
