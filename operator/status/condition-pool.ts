/** Shares equal conditions to save memory: thousands of objects have the same conditions since the same second. */
import type { Condition } from "#operator/resources/types.gen";

const conditionsMax = 2_048;

export class ConditionPool {
  readonly #known = new Map<string, Condition>();

  /** @returns an equal condition, the same one for equal ones while it is remembered */
  share(condition: Condition): Condition {
    const { type, status, reason, message, observedGeneration, lastTransitionTime } = condition;
    const text = `${type} ${status} ${reason} ${observedGeneration} ${lastTransitionTime} ${message}`;
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (this.#known.size >= conditionsMax) this.#known.clear();
    this.#known.set(text, condition);
    return condition;
  }
}
