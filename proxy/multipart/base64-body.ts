/** Sends a file as base64 inside of a larger body, piece by piece, without ever holding all of it. */
import type { StreamedBody } from "#proxy/http1/client/upstream";

export class Base64Body implements StreamedBody {
  readonly length: number;
  readonly #content: StreamedBody;

  constructor(content: StreamedBody) {
    this.#content = content;
    this.length = Math.ceil(content.length / 3) * 4;
  }

  async *chunks(): AsyncGenerator<Buffer> {
    // Three bytes are four characters: what is over waits for the next piece.
    let rest = Buffer.alloc(0);
    for await (const chunk of this.#content.chunks()) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const whole = bytes.length - (bytes.length % 3);
      // A copy: the memory of a piece is used again.
      rest = Buffer.from(bytes.subarray(whole));
      if (whole > 0) yield Buffer.from(bytes.toString("base64", 0, whole), "latin1");
    }
    if (rest.length > 0) yield Buffer.from(rest.toString("base64"), "latin1");
  }
}
