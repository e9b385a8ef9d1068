/**
 * Writes a form as a body for an upstream: the parts in their order, between boundaries of our own.
 *
 * Nothing of the client's own framing goes on, so the upstream sees exactly the parts that the gateway has judged
 * (docs/design/forms.md 4). Names are escaped as browsers do it (https://html.spec.whatwg.org/#multipart-form-data).
 */
import type { StreamedBody } from "#proxy/http1/client/upstream";
import type { FormField, FormFile } from "./form.ts";

/** A file of a form that is written; its content may come from elsewhere than from a client. */
export type WrittenPart = FormField | (Omit<FormFile, "content"> & { readonly content: StreamedBody });

export interface WrittenForm {
  /** Value of `content-type`. */
  readonly contentType: string;
  readonly body: StreamedBody;
}

/**
 * @param boundary random, so that no file can hold it: see `boundaryOf`
 * @returns a body that reads the files anew each time it is sent
 */
export function writeForm(parts: readonly WrittenPart[], boundary: string): WrittenForm {
  const segments: (Buffer | StreamedBody)[] = [];
  let text = "";
  for (const part of parts) {
    text += `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(part.name)}"`;
    if (part.kind === "file") text += `; filename="${escaped(part.filename)}"`;
    text += "\r\n";
    if (part.contentType !== undefined) text += `Content-Type: ${part.contentType}\r\n`;
    if (part.kind === "field") {
      text += `\r\n${part.value}\r\n`;
      continue;
    }
    segments.push(Buffer.from(`${text}\r\n`), part.content);
    text = "\r\n";
  }
  segments.push(Buffer.from(`${text}--${boundary}--\r\n`));
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: new SegmentedBody(segments) };
}

/** @param bytes 16 random ones, drawn when the files are known: no client can have put their text into one */
export function boundaryOf(bytes: Buffer): string {
  return `tollgate-${bytes.toString("hex")}`;
}

export class SegmentedBody implements StreamedBody {
  readonly length: number;
  readonly #segments: readonly (Buffer | StreamedBody)[];

  constructor(segments: readonly (Buffer | StreamedBody)[]) {
    this.#segments = segments;
    this.length = segments.reduce((sum, { length }) => sum + length, 0);
  }

  get pieces(): readonly Buffer[] | undefined {
    const pieces: Buffer[] = [];
    for (const segment of this.#segments) {
      if (Buffer.isBuffer(segment)) pieces.push(segment);
      else if (segment.pieces !== undefined) pieces.push(...segment.pieces);
      else return undefined;
    }
    return pieces;
  }

  async *chunks(): AsyncGenerator<Buffer> {
    for (const segment of this.#segments) {
      if (Buffer.isBuffer(segment)) yield segment;
      else yield* segment.chunks();
    }
  }
}

function escaped(name: string): string {
  return name.replace(/[\r\n"]/g, (character) => (character === '"' ? "%22" : character === "\r" ? "%0D" : "%0A"));
}
