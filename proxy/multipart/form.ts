/**
 * A form (`multipart/form-data`) as endpoints see it: its parts in the order in which they came.
 *
 * Fields are text and at hand. Files are not: they may be as large as the spool allows, so they are read piece by piece,
 * as often as it takes (`proxy/http/form/`). Parts are a list and never members of an object, because clients choose their
 * names (docs/design/reliability.md E5).
 */
import type { StreamedBody } from "#proxy/http1/client/upstream";

export interface FormField {
  readonly kind: "field";
  readonly name: string;
  /** As the client labelled it, where it did: JSON, for instance. */
  readonly contentType?: string | undefined;
  readonly value: string;
}

export interface FormFile {
  readonly kind: "file";
  readonly name: string;
  /** As the client named it; may be empty. Never a path to open. */
  readonly filename: string;
  /** As the client labelled it, which may be wrong; undefined where it did not. */
  readonly contentType: string | undefined;
  readonly content: SpooledContent;
}

export type FormPart = FormField | FormFile;

/** The bytes of a file: a body that can be read again, and its beginning. */
export interface SpooledContent extends StreamedBody {
  /** The first bytes, 64 at most: enough to tell what kind of file it is. */
  readonly start: Buffer;
  /** @param from the first byte that is read; the first of all unless given */
  chunks(from?: number): AsyncIterable<Buffer>;
}

export interface Form {
  readonly parts: readonly FormPart[];
  /** What came over the wire, boundaries and heads included. */
  readonly bodyBytes: number;
  /**
   * Lets go of everything that the form holds: memory, room of the spool, its file. Once at least, on every way out; what
   * is read of a file afterwards fails.
   */
  release(): void;
}

/** How many first bytes of a file are at hand. */
export const startBytes = 64;
