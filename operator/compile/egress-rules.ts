/**
 * Checks a channel's base URL before anything connects (docs/design/reliability.md EG2).
 *
 * Literal addresses are checked in every spelling (decimal, octal, short: the URL parser normalises them). Names are
 * checked only when they always mean this machine or a metadata service. The proxy checks every address again when it
 * connects, because a name may resolve to another address later.
 */
import type { EgressPolicy } from "#proxy/snapshot/egress-policy";

const metadataNames: ReadonlySet<string> = new Set(["metadata.google.internal", "metadata", "instance-data"]);
const ownNames: ReadonlySet<string> = new Set(["localhost", "ip6-localhost", "ip6-loopback"]);

/** The reason why a URL must not be called; undefined when it may. */
export function refuseURL(url: string, policy: EgressPolicy, field: string): string | undefined {
  const parsed = parseURL(url);
  if (!parsed) return `${field}: "${url}" is not an absolute http or https URL.`;
  if (parsed.username !== "" || parsed.password !== "")
    return `${field}: remove the user and password; use credentials.`;
  if (parsed.search !== "" || parsed.hash !== "") return `${field}: remove the query and the fragment.`;
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

/** Whether a URL leads to an address that no setting allows, also behind an egress proxy. */
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
