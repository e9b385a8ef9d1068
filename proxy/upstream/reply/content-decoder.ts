/**
 * Decodes a `content-encoding` that an upstream applied although the request asked for `identity`.
 *
 * It is incremental, so that a compressed stream still streams. The caller counts the decoded bytes against its caps.
 */

import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";

export interface DecodeListener {
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(error: Error): void;
}

export class ContentDecoder {
  readonly #transform: Transform;
  #isClosed = false;

  private constructor(transform: Transform, listener: DecodeListener) {
    this.#transform = transform;
    transform.on("data", (chunk: Buffer) => {
      if (!this.#isClosed) listener.onData(chunk);
    });
    transform.on("end", () => {
      if (!this.#isClosed) listener.onEnd();
    });
    transform.on("error", (error: Error) => {
      if (!this.#isClosed) listener.onError(error);
      this.close();
    });
  }

  /**
   * @param encoding value of `content-encoding`
   * @returns undefined when nothing has to be decoded
   * @throws Error for an encoding that is not known or stacked
   */
  static for(encoding: string | string[] | undefined, listener: DecodeListener): ContentDecoder | undefined {
    switch (
      String(encoding ?? "identity")
        .trim()
        .toLowerCase()
    ) {
      case "":
      case "identity":
        return undefined;
      case "gzip":
      case "x-gzip":
        return new ContentDecoder(createGunzip(), listener);
      case "deflate":
        return new ContentDecoder(createInflate(), listener);
      case "br":
        return new ContentDecoder(createBrotliDecompress(), listener);
      case "zstd":
        return new ContentDecoder(createZstdDecompress(), listener);
      default:
        throw new Error(`the upstream replied with the unsupported content-encoding ${String(encoding).slice(0, 64)}`);
    }
  }

  write(chunk: Buffer): void {
    if (!this.#isClosed) this.#transform.write(chunk);
  }

  end(): void {
    if (!this.#isClosed) this.#transform.end();
  }

  /** Holds back what is inflated: a few compressed bytes can become very many. */
  pause(): void {
    this.#transform.pause();
  }

  resume(): void {
    this.#transform.resume();
  }

  close(): void {
    this.#isClosed = true;
    this.#transform.destroy();
  }
}
