/**
 * What two kinds of attempts share: a reply's body without the encoding that its upstream put on it. An attempt derives from
 * it, so that the usual reply, which has none, costs nothing.
 */
import { headerValues, type RawHeaders } from "#proxy/http1/wire/header-values";
import { ContentDecoder } from "./content-decoder.ts";

export abstract class DecodedReply {
  #decoder: ContentDecoder | undefined;

  /** A part of the body as its upstream meant it. */
  protected abstract consume(chunk: Buffer): void;
  protected abstract consumeEnd(): void;
  /** The body cannot be read, or not on from here. */
  protected abstract breakOff(cause: unknown): void;

  /** Once, with the head. @returns false for an encoding that cannot be undone: the attempt has ended */
  protected decode(headers: RawHeaders): boolean {
    const encoding = headerValues(headers, "content-encoding").join(",");
    if (encoding === "") return true;
    try {
      this.#decoder = ContentDecoder.for(encoding, {
        onData: (chunk) => this.consume(chunk),
        onEnd: () => this.consumeEnd(),
        onError: (error) => this.breakOff(error),
      });
      return true;
    } catch (error) {
      this.breakOff(error);
      return false;
    }
  }

  protected get isEncoded(): boolean {
    return this.#decoder !== undefined;
  }

  /** @param chunk the caller writes into it no more */
  protected write(chunk: Buffer): void {
    if (this.#decoder === undefined) this.consume(chunk);
    else this.#decoder.write(chunk);
  }

  /** The upstream has ended the body. */
  onEnd(): void {
    if (this.#decoder === undefined) this.consumeEnd();
    else this.#decoder.end();
  }

  protected pauseDecoding(): void {
    this.#decoder?.pause();
  }

  protected resumeDecoding(): void {
    this.#decoder?.resume();
  }

  protected closeDecoder(): void {
    this.#decoder?.close();
  }
}
