/** What a provider refuses, from its documentation: one small function a rule. */
import type { JsonObject } from "#examples/demo-upstream/json-view";

/** @returns the provider's words for what is wrong; undefined where nothing is */
export type Rule = (body: JsonObject, model: string) => string | undefined;

/** The first refusal of several rules. */
export function refusalOf(rules: readonly Rule[], body: JsonObject, model: string): string | undefined {
  for (const rule of rules) {
    const refusal = rule(body, model);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** The first refusal among the items of a list. */
export function firstOf<Item>(
  items: readonly Item[],
  refuse: (item: Item, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const refusal = refuse(item, index);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}
