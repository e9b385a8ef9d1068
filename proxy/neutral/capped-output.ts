/** Caps the length of a reply at the limits of its model and its route: the provider refuses a request for more. */

/**
 * @param outputCap what the client allows
 * @param limits of the model and of the route, as far as they are known
 * @param lose told where the client asked for more than there is
 */
export function cappedOutput(
  outputCap: number | undefined,
  limits: readonly (number | undefined)[],
  lose: () => void,
): number | undefined {
  if (outputCap === undefined) return undefined;
  const most = Math.min(...limits.map((limit) => limit ?? Number.POSITIVE_INFINITY));
  if (outputCap <= most) return outputCap;
  lose();
  return most;
}
