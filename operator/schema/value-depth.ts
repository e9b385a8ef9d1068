/**
 * Measures how deep a value nests, without recursion, because the check protects recursive code from stack overflow.
 */

/**
 * @param value of JSON
 * @param levels 0 lets scalars pass, 1 lists and objects of them
 * @returns whether lists and objects are nested deeper than that
 */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  let containers = containersIn([value]);
  for (let level = 0; level < levels && containers.length > 0; level += 1)
    containers = containersIn(containers.flatMap((container) => Object.values(container)));
  return containers.length > 0;
}

function containersIn(values: readonly unknown[]): object[] {
  return values.filter((value): value is object => typeof value === "object" && value !== null);
}
