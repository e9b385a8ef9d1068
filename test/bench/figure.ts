/** One line of the benchmark's table. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly limit: number;
  readonly unit: string;
  /** The limit is the most, not the least. */
  readonly isUpperLimit: boolean;
  readonly detail: string;
}

/** A figure that should not be above its limit. */
export function atMost(name: string, value: number, limit: number, unit: string, detail = ""): Figure {
  return { name, value, limit, unit, isUpperLimit: true, detail };
}
