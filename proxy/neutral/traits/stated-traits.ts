/**
 * Finds the traits that a channel itself states for a model (`models[].traits`), for names that no table of this folder
 * knows and for rules that came after it.
 */
import type { Channel } from "#proxy/snapshot/types.gen";
import type { ModelOnChannel } from "./memoise-traits.ts";

export type StatedTraits = NonNullable<NonNullable<Channel["models"]>[number]["traits"]>;

const nothingStated: StatedTraits = {};

/**
 * Entries are found as names are mapped: an exact name before a pattern, of patterns the longest. What is compared is the
 * name at the upstream, since that is what a model is asked under.
 */
export function statedTraits({ channel, upstreamModel }: ModelOnChannel): StatedTraits {
  let best: { readonly fit: number; readonly traits: StatedTraits | undefined } | undefined;
  for (const { name, upstreamName = name, traits } of channel.models ?? []) {
    const fit = fitOf(name.endsWith("*") ? upstreamName : undefined, upstreamName, upstreamModel);
    if (fit === undefined) continue;
    const isBetter = best === undefined || fit > best.fit || (fit === best.fit && best.traits === undefined);
    if (isBetter) best = { fit, traits };
  }
  return best?.traits ?? nothingStated;
}

/** The name under which the tables know a model. */
export function knownName(target: ModelOnChannel): string {
  return statedTraits(target).like ?? target.upstreamModel;
}

/** How well an entry fits: infinitely where it names the model, else by the length of its pattern. */
function fitOf(pattern: string | undefined, exact: string, model: string): number | undefined {
  if (exact === model) return Number.POSITIVE_INFINITY;
  const star = pattern?.indexOf("*") ?? -1;
  if (pattern === undefined || star < 0) return undefined;
  const before = pattern.slice(0, star);
  const after = pattern.slice(star + 1);
  const fits = model.length >= pattern.length - 1 && model.startsWith(before) && model.endsWith(after);
  return fits ? pattern.length : undefined;
}
