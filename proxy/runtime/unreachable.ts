/**
 * Ends a `switch` over a closed set: a member that is added later does not compile before it is handled everywhere.
 *
 * @throws TypeError for a value that the types rule out
 */
export function unreachable(value: never): never {
  throw new TypeError(`no case for ${String(value)}`);
}
