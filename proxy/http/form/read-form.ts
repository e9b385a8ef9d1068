/**
 * Reads a request body that is a form (`multipart/form-data`) within its limits; files go to the spool as they come.
 *
 * As in `read-body.ts`: faults that the headers show are refused before a byte is read, a body is refused at its first excess
 * byte, silence or a total time ends it, and all that is held is counted. The field that an endpoint needs may stand behind
 * a file, so a form is read to its end before anything is decided (docs/design/forms.md). When the disk is slower than the
 * client, the client is not read.
 */
import { GatewayError } from "#proxy/errors";
import { readContentEncoding } from "#proxy/http/content-rules";
import { gatewayErrorOf } from "#proxy/http/gateway-error-of";
import type { ByteCount } from "#proxy/http/in-flight-bytes";
import { ClientGoneError } from "#proxy/http/read-body";
import type { BodyListener, ClientRequest } from "#proxy/http1/server/client-request";
import type { HttpError } from "#proxy/http1/wire/http-error";
import type { ProxyLimits } from "#proxy/limits";
import type { Form } from "#proxy/multipart/form";
import { readBoundary } from "#proxy/multipart/form-content-type";
import { FormSplitter } from "#proxy/multipart/form-splitter";
import { armDeadline, type Deadline } from "#proxy/runtime/deadlines";
import { FormStore } from "./form-store.ts";
import { PartCollector, type PartLimits } from "./part-collector.ts";
import type { FormSpool } from "./spool.ts";

export type FormLimits = PartLimits & Pick<ProxyLimits, "formBytesMax" | "formTimeoutMs" | "bodyIdleTimeoutMs">;

export interface FormReading {
  readonly limits: FormLimits;
  /** Names of which the form may have several parts, beside those that end in `[]`. Two programs would read two values. */
  readonly repeated: ReadonlySet<string>;
  readonly spool: FormSpool;
  readonly inFlight: ByteCount;
  /** Asks for the body: called where the head gives nothing away for which it would be refused. */
  readonly ask?: (() => void) | undefined;
}

/**
 * @returns the form, which the caller must release on every way out
 * @throws GatewayError `unsupported_media_type`, `invalid_form`, `body_too_large`, `request_timeout`, `overloaded`,
 *   `internal` (the temporary file); `ClientGoneError`. Nothing stays held after a throw.
 */
export async function readForm(request: ClientRequest, reading: FormReading): Promise<Form> {
  const boundary = readBoundary(request.rawHeaders);
  // Files are packed already, as a rule, and what unpacks to a gigabyte must not reach the disk.
  if (readContentEncoding(request.rawHeaders) !== "identity") {
    throw new GatewayError("unsupported_media_type", "'Content-Encoding' of a form must be left out.");
  }
  const { formBytesMax } = reading.limits;
  if ((request.declaredBytes ?? 0) > formBytesMax) throw formTooLarge(formBytesMax);
  reading.ask?.();
  return new FormReader(request, boundary, reading).whole;
}

function formTooLarge(bytesMax: number): GatewayError {
  return new GatewayError("body_too_large", `The form is larger than ${bytesMax} bytes.`);
}

/** One form on its way in. */
class FormReader implements BodyListener {
  readonly whole: Promise<Form>;
  readonly #request: ClientRequest;
  readonly #limits: FormLimits;
  readonly #store: FormStore;
  readonly #collector: PartCollector;
  readonly #splitter: FormSplitter;
  #bytes = 0;
  #progressMs = performance.now();
  #isPaused = false;
  #hasEnded = false;
  #isOver = false;
  #idle: Deadline | undefined;
  #total: Deadline | undefined;
  #resolve: (form: Form) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor(request: ClientRequest, boundary: string, { limits, repeated, spool, inFlight }: FormReading) {
    this.#request = request;
    this.#limits = limits;
    this.#store = new FormStore({
      spool,
      inFlight,
      onRoom: () => this.#resume(),
      onError: (error) => this.#fail(error),
    });
    this.#collector = new PartCollector(this.#store, inFlight, limits, repeated);
    this.#splitter = new FormSplitter(boundary, this.#collector);
    this.whole = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#total = armDeadline(limits.formTimeoutMs, this.#onTooSlow);
    this.#idle = armDeadline(limits.bodyIdleTimeoutMs, this.#onSilence);
    request.read(this);
  }

  onChunk(chunk: Buffer): void {
    this.#progressMs = performance.now();
    if (!this.#isOver) this.#accept(chunk);
    // Also what the form was refused for.
    this.#store.flush(chunk);
    if (this.#store.isFull && !this.#isOver) this.#pause();
  }

  #accept(chunk: Buffer): void {
    this.#bytes += chunk.length;
    try {
      if (this.#bytes > this.#limits.formBytesMax) throw formTooLarge(this.#limits.formBytesMax);
      this.#splitter.push(chunk);
    } catch (error) {
      this.#fail(error);
    }
  }

  onEnd(): void {
    if (this.#isOver) return;
    this.#hasEnded = true;
    this.#idle?.cancel();
    this.#finishForm().catch((error: unknown) => this.#fail(error));
  }

  async #finishForm(): Promise<void> {
    await this.#splitter.end();
    await this.#store.written();
    if (this.#isOver) return;
    this.#finish();
    this.#resolve({
      parts: this.#collector.parts,
      bodyBytes: this.#bytes,
      release: () => this.#release(),
    });
  }

  onFailed(error: HttpError | undefined): void {
    this.#fail(error === undefined ? new ClientGoneError() : gatewayErrorOf(error));
  }

  #pause(): void {
    this.#isPaused = true;
    this.#request.pauseReading();
  }

  #resume(): void {
    if (!this.#isPaused || this.#isOver) return;
    this.#isPaused = false;
    this.#progressMs = performance.now();
    this.#request.resumeReading();
  }

  readonly #onTooSlow = (): void => {
    this.#fail(
      this.#hasEnded || this.#isPaused
        ? new GatewayError("overloaded", "The gateway is overloaded: its disk is too slow at the moment. Try again.")
        : new GatewayError("request_timeout", "The form arrived too slowly. Send it again."),
    );
  };

  /** One deadline that looks when it is over how long ago the last bytes came; a client that is not read is not silent. */
  readonly #onSilence = (): void => {
    const { bodyIdleTimeoutMs } = this.#limits;
    if (this.#isPaused) this.#progressMs = performance.now();
    const remainingMs = this.#progressMs + bodyIdleTimeoutMs - performance.now();
    if (remainingMs <= 0) this.#onTooSlow();
    else this.#idle = armDeadline(bodyIdleTimeoutMs, this.#onSilence, remainingMs);
  };

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#finish();
    this.#request.stopReading();
    if (this.#isPaused) this.#request.resumeReading();
    this.#release();
    this.#reject(error instanceof Error ? error : new Error(String(error)));
  }

  #release(): void {
    this.#store.release();
    this.#collector.release();
  }

  #finish(): void {
    this.#isOver = true;
    this.#idle?.cancel();
    this.#total?.cancel();
  }
}
