/**
 * Compares how much of the source two parties have seen: the highest resourceVersion of each watch, as Kubernetes gives
 * them. They tell a replica that is behind from one that is not (docs/design/configuration.md 3.12). A source without
 * versions, such as a folder, has none.
 */

/** By name of the watch: `ApiKey`, or `ApiKey/<namespace>` where each namespace has its own. Decimal numbers as text. */
export type ResourceVersions = Readonly<Record<string, string>>;

export const noVersions: ResourceVersions = {};

/** Digits only: versions are numbers beyond 2^53 for all we know, and compared as text. */
export function isResourceVersion(text: string): boolean {
  return /^(0|[1-9][0-9]{0,19})$/.test(text);
}

/** Negative: `one` is older. */
export function compareVersions(one: string, other: string): number {
  if (one.length !== other.length) return one.length - other.length;
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The names of watches of which `own` has seen less than `claimed`. What `own` does not watch at all does not count. */
export function watchesBehind(own: ResourceVersions, claimed: ResourceVersions): string[] {
  return Object.entries(claimed)
    .filter(([watch, version]) => {
      const held = own[watch];
      return held !== undefined && compareVersions(held, version) < 0;
    })
    .map(([watch]) => watch);
}

/** The higher version of each watch. @returns `one` itself where `other` adds nothing */
export function highestVersions(one: ResourceVersions, other: ResourceVersions): ResourceVersions {
  const news = Object.entries(other).filter(([watch, version]) => {
    const held = one[watch];
    return held === undefined || compareVersions(held, version) < 0;
  });
  return news.length === 0 ? one : { ...one, ...Object.fromEntries(news) };
}

/** What `now` holds and `before` did not. */
export function versionsSince(before: ResourceVersions, now: ResourceVersions): ResourceVersions {
  if (before === now) return noVersions;
  return Object.fromEntries(Object.entries(now).filter(([watch, version]) => before[watch] !== version));
}
