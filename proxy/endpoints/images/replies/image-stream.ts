/**
 * Watches a stream of pictures of an OpenAI-style upstream: its events pass as they came, several megabytes each
 * (docs/design/images.md 3).
 *
 * The stream is whole when as many pictures are complete as were asked for, or when the upstream says so. One that ends
 * with fewer was cut.
 */

import type { ImageCall } from "#proxy/endpoints/images/call/image-call";
import { classifyErrorEvent, holdsError } from "#proxy/formats/classify-error";
import type { PassedEvent } from "#proxy/formats/format";
import {
  type EventReader,
  EventStreamFilter,
  type ReadEvent,
  type StreamState,
} from "#proxy/formats/stream/event-stream-filter";
import { nothingProduced, type Produced } from "#proxy/formats/stream/produced";
import { asText, isObject, member } from "#proxy/json/json-value";
import type { ImageKind } from "#proxy/settle/image-price";
import type { ChargedUnits } from "#proxy/settle/price";
import type { TokenUsage } from "#proxy/settle/usage";
import { EventSplitter } from "#proxy/sse/event-splitter";
import { tokensOfImage } from "./image-tokens.ts";
import { countKinds, isPicture, readImageUsage, sumUsage, toldKind } from "./read-images.ts";

export class ImageStreamFilter extends EventStreamFilter {
  readonly #pictures: PictureEvents;
  readonly #charged: (told: ImageKind) => ImageKind;

  /** @param charged the kind by which a picture is charged (`chargedKind`) */
  constructor(call: ImageCall, charged: (told: ImageKind) => ImageKind, eventBytesMax: number) {
    const pictures = new PictureEvents(call);
    super(pictures, new EventSplitter(eventBytesMax));
    this.#pictures = pictures;
    this.#charged = charged;
  }

  /** The pictures that are complete, and the one that was begun. */
  override get units(): ChargedUnits {
    return { images: countKinds(this.#pictures.kinds.map(this.#charged)) };
  }
}

const doneText = "[DONE]";
const markers = ['.completed"', doneText, '"error"'].map((text) => Buffer.from(text));

class PictureEvents implements EventReader {
  readonly markers = markers;
  readonly terminatorText = doneText;
  /** Until the next picture has begun; its other events pass unread. */
  wantsEvery = true;
  usage: TokenUsage | undefined;
  readonly #call: ImageCall;
  readonly #complete: ImageKind[] = [];
  #begun: ImageKind | undefined;

  constructor(call: ImageCall) {
    this.#call = call;
  }

  get kinds(): readonly ImageKind[] {
    return this.#begun === undefined ? this.#complete : [...this.#complete, this.#begun];
  }

  read({ data, json, bytes }: ReadEvent, state: StreamState): Buffer | undefined {
    if (data === doneText) state.isComplete = this.#complete.length > 0;
    if (!isObject(json)) return bytes;
    if (holdsError(json)) {
      state.error = classifyErrorEvent(json);
      return undefined;
    }
    this.#readPicture(json, state);
    return bytes;
  }

  #readPicture(json: PassedEvent["json"] & object, state: StreamState): void {
    const type = asText(member(json, "type"));
    if (!isPicture(json)) {
      if (type.endsWith(".completed")) state.violation = "expected a picture in an event that completes one, got none";
      return;
    }
    state.hasContent = true;
    this.wantsEvery = type.endsWith(".completed");
    if (!this.wantsEvery) {
      this.#begun = toldKind(json);
      return;
    }
    this.#begun = undefined;
    this.#complete.push(toldKind(json));
    this.usage = sumUsage(this.usage, readImageUsage(json, this.#call.isDrawnAsText));
    if (this.#complete.length >= this.#call.count) state.isComplete = true;
  }

  end(): undefined {}

  produced(): Produced {
    const imageTokens = this.kinds.reduce((sum, kind) => sum + tokensOfImage(kind), 0) * this.#call.frames;
    return imageTokens === 0 ? nothingProduced : { ...nothingProduced, imageTokens };
  }
}
