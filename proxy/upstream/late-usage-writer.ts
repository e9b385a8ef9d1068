/**
 * Ends a stream that waits for usage: its client's format requires usage, and its upstream reported none. Another
 * thread counts the tokens meanwhile, and nothing else waits for it.
 */
import type { StreamFilter } from "#proxy/formats/format";
import { StreamTranslator } from "#proxy/translate/stream-translator";
import type { AttemptOptions } from "./attempt-options.ts";

/** The upstream ended the reply, and the client has no usage yet: a failure behind that changes nothing. */
export function awaitsUsage(filter: StreamFilter | undefined): filter is StreamTranslator {
  return filter instanceof StreamTranslator && filter.awaitsUsage;
}

export interface LateUsageStream {
  /** False once the attempt was ended in another way. */
  readonly isStreaming: () => boolean;
  /** The upstream has ended, and the client has all there is. */
  readonly onEnd: (filter: StreamFilter) => void;
  readonly onCrash: (error: unknown) => void;
}

export class LateUsageWriter {
  readonly #options: Pick<AttemptOptions, "client" | "estimateMissingUsage">;
  readonly #stream: LateUsageStream;
  #isWriting = false;
  #isOver = false;

  constructor(options: Pick<AttemptOptions, "client" | "estimateMissingUsage">, stream: LateUsageStream) {
    this.#options = options;
    this.#stream = stream;
  }

  /** The upstream has ended. */
  end(filter: StreamFilter): void {
    this.#isOver = true;
    if (awaitsUsage(filter)) void this.write(filter);
    else this.#stream.onEnd(filter);
  }

  async write(filter: StreamTranslator): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    const { client, estimateMissingUsage } = this.#options;
    const { isStreaming, onEnd, onCrash } = this.#stream;
    try {
      const usage = await estimateMissingUsage?.(filter.usage, () => filter.produced());
      if (!isStreaming()) return;
      const pieces = filter.writeUsage(usage);
      if (pieces.length > 0) client?.write(pieces);
      if (this.#isOver) onEnd(filter);
    } catch (error) {
      onCrash(error);
    }
  }
}
