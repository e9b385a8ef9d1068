/** Names of objects as parts of paths in the data folder. */

/**
 * Whether a name stays within the folder that it is put into. Every name that passed the schema does; a file written or
 * removed elsewhere cannot be taken back, so those who make paths ask again.
 */
export function isPathSegment(name: string): boolean {
  return /^[^./\\\0][^/\\\0]*$/.test(name);
}
