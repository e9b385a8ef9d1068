/**
 * Remembers the traits of each model on a channel: working them out tries dozens of patterns, with the same result each
 * time.
 */
import type { Channel } from "#proxy/snapshot/types.gen";

export interface ModelOnChannel {
  readonly channel: Pick<Channel, "provider" | "baseURL" | "privacy" | "models">;
  readonly upstreamModel: string;
}

/** Names come from clients where a route takes a pattern: beyond so many a channel's are worked out anew. */
const modelsMax = 1_000;

/** @param find pure; its results are shared and must not be changed */
export function memoiseTraits<Traits extends object>(
  find: (target: ModelOnChannel) => Traits,
): (target: ModelOnChannel) => Traits {
  // A channel of the configuration is one object that never changes; an edited one is another.
  const known = new WeakMap<ModelOnChannel["channel"], Map<string, Traits>>();
  return (target) => {
    let models = known.get(target.channel);
    if (models === undefined) {
      models = new Map();
      known.set(target.channel, models);
    }
    let traits = models.get(target.upstreamModel);
    if (traits === undefined) {
      traits = find(target);
      if (models.size >= modelsMax) models.clear();
      models.set(target.upstreamModel, traits);
    }
    return traits;
  };
}
