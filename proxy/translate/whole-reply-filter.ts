/** Stands in for the stream filter when a whole reply serves a streaming client. */
import type { ReplyReading, StreamFilter } from "#proxy/formats/format";
import type { Produced } from "#proxy/formats/stream/produced";
import type { ChargedUnits } from "#proxy/settle/price";
import type { TokenUsage } from "#proxy/settle/usage";

export class WholeReplyFilter implements StreamFilter {
  readonly events = 1;
  readonly position = "event 1";
  /** False for what came of several replies that make one. */
  readonly isComplete: boolean;
  readonly error = undefined;
  readonly violation = undefined;
  readonly heldBytes = 0;
  readonly hasContent = true;
  readonly #reading: ReplyReading;

  constructor(reading: ReplyReading, isComplete = true) {
    this.#reading = reading;
    this.isComplete = isComplete;
  }

  get usage(): TokenUsage | undefined {
    return this.#reading.usage;
  }

  get units(): ChargedUnits | undefined {
    return this.#reading.units;
  }

  produced(): Produced {
    return this.#reading.produced();
  }

  push(): readonly Buffer[] {
    return [];
  }

  end(): readonly Buffer[] {
    return [];
  }
}
