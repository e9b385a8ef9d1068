/**
 * The end of a stream that waits for numbers: its client is told usage in any case, and its upstream told none. They are
 * counted in another thread meanwhile, and nothing else waits for it.
 */
import type { StreamFilter } from "#proxy/formats/format";
import { StreamTranslator } from "#proxy/translate/stream-translator";
import type { AttemptOptions } from "./attempt-options.ts";

/** The upstream said its end, and the client has not been told: what breaks behind it changes nothing. */
export function awaitsUsage(filter: StreamFilter | undefined): filter is StreamTranslator {
  return filter instanceof StreamTranslator && filter.awaitsUsage;
}

export interface ToldStream {
  /** False once the attempt was ended in another way. */
  readonly isStreaming: () => boolean;
  /** The upstream has ended, and the client has all there is. */
  readonly onEnd: (filter: StreamFilter) => void;
  readonly onCrash: (error: unknown) => void;
}

export class UsageTeller {
  readonly #options: Pick<AttemptOptions, "client" | "estimateUntold">;
  readonly #stream: ToldStream;
  #isTelling = false;
  #isOver = false;

  constructor(options: Pick<AttemptOptions, "client" | "estimateUntold">, stream: ToldStream) {
    this.#options = options;
    this.#stream = stream;
  }

  /** The upstream has ended. */
  end(filter: StreamFilter): void {
    this.#isOver = true;
    if (awaitsUsage(filter)) void this.tell(filter);
    else this.#stream.onEnd(filter);
  }

  async tell(filter: StreamTranslator): Promise<void> {
    if (this.#isTelling) return;
    this.#isTelling = true;
    const { client, estimateUntold } = this.#options;
    const { isStreaming, onEnd, onCrash } = this.#stream;
    try {
      const usage = await estimateUntold?.(filter.usage, () => filter.produced());
      if (!isStreaming()) return;
      const pieces = filter.writeUsage(usage);
      if (pieces.length > 0) client?.write(pieces);
      if (this.#isOver) onEnd(filter);
    } catch (error) {
      onCrash(error);
    }
  }
}
