/** A committed file that a generator owns, with its full content. */
export interface GeneratedFile {
  readonly path: string;
  readonly content: string;
}
