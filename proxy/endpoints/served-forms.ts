/**
 * Tells in which forms upstreams serve an endpoint: in the client's own, whose bytes pass with edits, or converted (PURE).
 * For the reference page; it follows from what the endpoints declare.
 */
import type { Protocol } from "#proxy/neutral/wire";
import type { MetricFormat } from "#proxy/observe/metrics";
import type { FormatDialect } from "#proxy/route/select-target";
import type { WireFormat } from "#proxy/snapshot/types.gen";
import type { Endpoint, EndpointPath, Match } from "./endpoint.ts";

/** A format of channels, and whose shape of it where vendors differ. */
export interface UpstreamForm {
  readonly format: WireFormat;
  readonly dialect?: FormatDialect;
}

export interface ServedForm {
  /** The client's format, as metrics have it. */
  readonly client: MetricFormat;
  readonly protocol: Protocol;
  readonly native: readonly UpstreamForm[];
  readonly converted: readonly UpstreamForm[];
}

/** One for each format of clients; none where no upstream is asked. */
export function servedForms(endpoint: Endpoint): readonly ServedForm[] {
  if (endpoint.channelFormats.length === 0) return [];
  const clients = new Map<MetricFormat, Protocol>();
  for (const path of endpoint.paths) {
    const match = matchOf(path);
    clients.set(endpoint.metricFormat(match), match.protocol);
  }
  return [...clients].map(([client, protocol]) => formOf(endpoint, client, protocol));
}

function formOf(
  { channelFormats, channelDialects = {} }: Endpoint,
  client: MetricFormat,
  protocol: Protocol,
): ServedForm {
  const native: UpstreamForm[] = [];
  const converted: UpstreamForm[] = [];
  for (const format of channelFormats) {
    const [own, ...others] = channelDialects[format] ?? [];
    const first = own === undefined ? { format } : { format, dialect: own };
    (format === client ? native : converted).push(first);
    for (const dialect of others) converted.push({ format, dialect });
  }
  return { client, protocol, native, converted };
}

/** Any request of a path: all have the same format. */
function matchOf(path: EndpointPath<Match>): Match {
  switch (path.kind) {
    case "fixed":
    case "socket":
      return path.match;
    case "verb":
      return path.match("model", "/");
    case "item":
      return (path.methods.GET ?? path.methods.DELETE)?.("id") ?? { protocol: "OpenAI" };
    case "models":
      return path.list("OpenAI");
    case "rest":
      return path.match(path.methods[0] ?? "GET", "model", "/path", "/");
    default:
      return path satisfies never;
  }
}
