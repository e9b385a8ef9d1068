/**
 * The summary in which a follower reports the proxies that are connected to it (docs/design/configuration.md 3.11).
 *
 * Each operator counts revisions by itself, so a summary holds bucket sums: versions are hashes of content and equal
 * everywhere. Proxies that acknowledged the same configuration form one group; mostly there is one.
 */
import { type BucketSums, decodeSums, encodeSums } from "#proxy/snapshot/digest";
import { rejectsMax } from "#proxy/snapshot/push/messages";

/** A connected proxy that lacks some capability. */
export interface OldProxy {
  readonly proxy: string;
  /** Names of capabilities that it did not name in its hello. */
  readonly lacks: readonly string[];
}

export interface ReportedReject {
  readonly proxy: string;
  readonly id: string;
  readonly message: string;
}

/** Proxies that hold the same acknowledged configuration. */
export interface ProxyGroup {
  readonly digest: string;
  /** The sums as if the follower held nothing back. */
  readonly sums: BucketSums;
  readonly proxies: readonly string[];
  readonly rejects: readonly ReportedReject[];
  /** Those of the proxies that refuse more than `rejects` holds: the state of other objects is unknown there. */
  readonly untold: readonly string[];
}

export interface Summary {
  /** Distinguishes this run of the follower. */
  readonly operator: string;
  readonly groups: readonly ProxyGroup[];
  /** Connected proxies without a first configuration. */
  readonly joining: readonly string[];
  /** All of these proxies that lack some capability. */
  readonly old: readonly OldProxy[];
}

/** More groups than any fleet has; proxies beyond it count as not acknowledging. */
const groupsMax = 32;
const proxiesMax = 10_000;

/** The summary is malformed. */
export class SummaryError extends Error {
  readonly code = "bad_summary";
}

/** The body of a post. */
export function writeSummary({ operator, groups, joining, old }: Summary): string {
  const ordered = [...groups].sort((one, other) => other.proxies.length - one.proxies.length);
  const told = ordered.slice(0, groupsMax);
  const late = ordered.slice(groupsMax).flatMap(({ proxies }) => proxies);
  const isTold = chooseRejects(told);
  return JSON.stringify({
    type: "summary",
    operator,
    groups: told.map(({ digest, sums, proxies, rejects, untold }) => {
      const cut = rejects.filter((reject) => !isTold.rejects.has(reject) && !isTold.ids.has(reject.id));
      return {
        digest,
        sums: encodeSums(sums),
        proxies,
        rejects: rejects.filter((reject) => isTold.rejects.has(reject)),
        untold: [...new Set([...untold, ...cut.map(({ proxy }) => proxy)])],
      };
    }),
    joining: [...joining, ...late],
    old,
  });
}

/** Fills the bound with every object once before any object twice, because one refusing proxy is enough. */
function chooseRejects(groups: readonly ProxyGroup[]) {
  const first = new Map<string, ReportedReject>();
  const all = groups.flatMap(({ rejects }) => rejects);
  for (const reject of all) if (!first.has(reject.id)) first.set(reject.id, reject);
  const rejects = new Set([...first.values()].slice(0, rejectsMax));
  for (const reject of all.slice(0, rejectsMax)) if (rejects.size < rejectsMax) rejects.add(reject);
  return { rejects, ids: new Set(Array.from(rejects, ({ id }) => id)) };
}

/** @throws SummaryError */
export function readSummary(value: unknown): Summary {
  const members = asMembers(value);
  if (members["type"] !== "summary") throw new SummaryError("the type is unknown");
  const groups = array(members, "groups");
  if (groups.length > groupsMax) throw new SummaryError("groups: too many");
  return {
    operator: text(members, "operator"),
    joining: names(members, "joining"),
    old: oldProxies(members),
    groups: groups.map((item) => {
      const group = asMembers(item);
      const sums = decodeSums(text(group, "sums"));
      if (sums === undefined) throw new SummaryError("sums: must be those of 256 buckets");
      const rejects = array(group, "rejects");
      if (rejects.length > rejectsMax) throw new SummaryError("rejects: too many");
      return {
        digest: text(group, "digest"),
        sums,
        proxies: names(group, "proxies"),
        // Operators of older versions leave it out.
        untold: group["untold"] === undefined ? [] : names(group, "untold"),
        rejects: rejects.map((reject) => {
          const facts = asMembers(reject);
          return { proxy: text(facts, "proxy"), id: text(facts, "id"), message: text(facts, "message") };
        }),
      };
    }),
  };
}

/** The leader's response to a summary: the capabilities that some proxy of the fleet lacks. */
export function writeLacked(lacked: ReadonlySet<string>): string {
  return JSON.stringify({ type: "lacked", capabilities: [...lacked] });
}

/** @throws SummaryError */
export function readLacked(value: unknown): string[] {
  return names(asMembers(value), "capabilities");
}

/** Operators of older versions leave it out. */
function oldProxies(members: Members): OldProxy[] {
  const items = members["old"] === undefined ? [] : array(members, "old");
  if (items.length > proxiesMax) throw new SummaryError("old: too many");
  return items.map((item) => {
    const proxy = asMembers(item);
    return { proxy: text(proxy, "proxy"), lacks: names(proxy, "lacks") };
  });
}

type Members = Readonly<Record<string, unknown>>;

function asMembers(value: unknown): Members {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new SummaryError("must be an object");
  return value as Members;
}

function array(members: Members, name: string): readonly unknown[] {
  const value = members[name];
  if (!Array.isArray(value)) throw new SummaryError(`${name}: must be an array`);
  return value;
}

function text(members: Members, name: string): string {
  const value = members[name];
  if (typeof value !== "string") throw new SummaryError(`${name}: must be a string`);
  return value;
}

function names(members: Members, name: string): string[] {
  const items = array(members, name);
  if (items.length > proxiesMax) throw new SummaryError(`${name}: too many`);
  return items.map((item) => {
    if (typeof item !== "string") throw new SummaryError(`${name}: must hold strings`);
    return item;
  });
}
