/** Finds the prices that a route lacks for a call whose spending is limited, so that the call is refused. */
import type { Snapshot } from "#proxy/snapshot/snapshot";
import type { Capability, Key, Limit, Route } from "#proxy/snapshot/types.gen";
import { appliesTo, exactNames, limitsOfKey } from "./limit-scope.ts";

type PriceField = keyof NonNullable<Route["price"]>;

/** Prices that a capability needs: all of them, or any one. A price of 0 is a price. */
interface Need {
  readonly fields: readonly PriceField[];
  readonly isOneEnough: boolean;
}

/** The classes that every call of the kind uses; all others fall back to the price of one of these two. */
const inputAndOutput: Need = { fields: ["input", "output"], isOneEnough: false };

function oneOf(...fields: readonly PriceField[]): Need {
  return { fields, isOneEnough: true };
}

const spokenInput = oneOf("audioMinute", "audioInput", "input", "request");
const imagesMade = oneOf("images", "imageOutput", "output", "request");
const embedded = oneOf("input", "request");

/** The rule is docs/design/limits-and-money.md 12. */
const needs: Readonly<Record<Capability, Need>> = {
  Chat: inputAndOutput,
  Completion: inputAndOutput,
  Realtime: inputAndOutput,
  CountTokens: inputAndOutput,
  Models: inputAndOutput,
  Embeddings: embedded,
  Moderation: embedded,
  Rerank: oneOf("search", "input", "request"),
  Speech: oneOf("characters", "audioMinute", "audioOutput", "output", "request"),
  Transcription: spokenInput,
  Translation: spokenInput,
  ImageGeneration: imagesMade,
  ImageEdit: imagesMade,
  // What is passed on may report nothing that has another price.
  Passthrough: { fields: ["request"], isOneEnough: false },
};

const words: Partial<Record<PriceField, string>> = {
  search: "searches",
  audioMinute: "minutes of audio",
  audioInput: "audio input",
  audioOutput: "audio output",
  imageOutput: "image output",
  request: "requests",
};

/**
 * The prices whose absence keeps a model from running (PURE): under an enforced limit in credits, or a balance, nothing
 * would ever stop the spending (docs/design/limits-and-money.md 10).
 *
 * @param model public name as the client wrote it
 * @returns the prices in words, as `input and output`; undefined where the model may run
 */
export function missingPrices(
  { key, snapshot, model }: { readonly key: Key; readonly snapshot: Snapshot; readonly model: string },
  route: Route,
  capability: Capability,
): string | undefined {
  const need = needs[capability];
  if (isMet(need, route.price) || !mayNotSpendFreely(key, route, model, snapshot)) return undefined;
  const names = need.fields
    .filter((field) => need.isOneEnough || !isPriced(field, route.price))
    .map((field) => words[field] ?? field);
  return need.isOneEnough ? `${names.slice(0, -1).join(", ")} or ${names.at(-1)} (one is enough)` : names.join(" and ");
}

function isMet({ fields, isOneEnough }: Need, price: Route["price"]): boolean {
  for (const field of fields) {
    if (isPriced(field, price) === isOneEnough) return isOneEnough;
  }
  return !isOneEnough;
}

function isPriced(field: PriceField, price: Route["price"]): boolean {
  const value = price?.[field];
  return value !== undefined && value.length > 0;
}

/** Whether a limit in credits, or a balance, holds for the calls of a key on a route. @param model as `missingPrices` */
export function mayNotSpendFreely(key: Key, route: Route, model: string, snapshot: Snapshot): boolean {
  const account = key.account === undefined ? undefined : snapshot.account(key.namespace, key.account);
  if (account?.creditNanos !== undefined) return true;
  const names = exactNames(route);
  const isBound = (limit: Limit): boolean =>
    limit.unit === "Cost" && limit.mode === "Enforce" && appliesTo(limit, model, names);
  return [limitsOfKey(key, account), account?.limits, route.limits].some((limits) => limits?.some(isBound) === true);
}
