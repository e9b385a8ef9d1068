/** Checks names of objects before they become parts of paths in the data folder. */

/**
 * Whether a name stays within its folder. Every name that passed the schema does; a file written or removed elsewhere could
 * not be undone, so code that builds paths checks again.
 */
export function isPathSegment(name: string): boolean {
  return /^[^./\\\0][^/\\\0]*$/.test(name);
}
