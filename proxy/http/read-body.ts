/**
 * Reads a request body, JSON unless its endpoint passes on whatever comes, strictly within limits, copying each byte at most once.
 *
 * Faults that the headers show are refused before a byte is read. A body is refused at its first excess byte, and
 * silence or a total time ends it. All bytes held are counted against one cap for the whole process, as they arrive: a
 * declared length alone reserves nothing. `handle-request.ts` calls it after the head has been authenticated and
 * authorised, so that no stranger makes the gateway read a body.
 */
import { GatewayError } from "#proxy/errors";
import type { BodyListener, ClientRequest } from "#proxy/http1/server/client-request";
import { releaseBuffer } from "#proxy/http1/server/release-buffer";
import type { RawHeaders } from "#proxy/http1/wire/header-values";
import type { HttpError } from "#proxy/http1/wire/http-error";
import type { ProxyLimits } from "#proxy/limits";
import { armDeadline, type Deadline } from "#proxy/runtime/deadlines";
import { checkJsonContentType, readContentEncoding } from "./content-rules.ts";
import { gatewayErrorOf } from "./gateway-error-of.ts";
import type { ByteCount } from "./in-flight-bytes.ts";
import { inflateBody } from "./inflate-body.ts";

export interface RequestBody {
  readonly bytes: Buffer;
  /** Taken from the in-flight count: the caller releases them when it lets go of the body. */
  readonly heldBytes: number;
}

/** The client left before its body was whole: there is nobody to respond to. Compare `code`. */
export class ClientGoneError extends Error {
  readonly code = "client_gone";

  constructor(cause?: unknown) {
    super("the client closed the connection before the body was complete", { cause });
    this.name = "ClientGoneError";
  }
}

/** Up to this length a declared body is allocated whole at once; longer ones as their bytes arrive. */
const allocateAtOnceMax = 1024 * 1024;
/**
 * By which memory for a longer one grows: what is allocated and not written takes room on paper alone, and what is copied
 * is a third of the body. Chunks that are joined at the end would take its size twice.
 */
const growthFactor = 4;

/**
 * A promise only where a body is still on its way or packed.
 * @param ask asks for the body: called where the head gives nothing away for which it would be refused
 * @param checkContentType refuses what the body must not be labelled as
 * @throws GatewayError `unsupported_media_type`, `body_too_large`, `request_timeout`, `overloaded`, `invalid_json`
 *   (bad encoding); `ClientGoneError`. Nothing stays counted in flight after a throw.
 */
export function readBody(
  request: ClientRequest,
  limits: ProxyLimits,
  inFlight: ByteCount,
  ask?: () => void,
  checkContentType: (headers: RawHeaders) => void = checkJsonContentType,
): RequestBody | Promise<RequestBody> {
  checkContentType(request.rawHeaders);
  const encoding = readContentEncoding(request.rawHeaders);
  const bytesMax = limits.jsonBodyBytesMax;
  const declared = request.declaredBytes;
  if (declared !== undefined && declared > bytesMax) throw tooLarge(bytesMax);
  ask?.();
  // Most bodies have come with their head: nothing must be waited for, so nothing listens and no deadline is armed.
  const bytes = encoding === "identity" ? request.takeWhole() : undefined;
  if (bytes === undefined) return collectBody(request, encoding, limits, inFlight);
  if (bytes.length > bytesMax) throw tooLarge(bytesMax);
  inFlight.acquire(bytes.length);
  return { bytes, heldBytes: bytes.length };
}

async function collectBody(
  request: ClientRequest,
  encoding: ReturnType<typeof readContentEncoding>,
  limits: ProxyLimits,
  inFlight: ByteCount,
): Promise<RequestBody> {
  const packed = await new BodyReader(request, limits, inFlight).whole;
  if (encoding === "identity") return { bytes: packed, heldBytes: packed.length };
  try {
    const bytes = await inflateBody(packed, encoding, limits.jsonBodyBytesMax, inFlight);
    return { bytes, heldBytes: bytes.length };
  } finally {
    inFlight.release(packed.length);
  }
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError("body_too_large", `The body is larger than ${bytesMax} bytes.`);
}

/** One body on its way in. */
class BodyReader implements BodyListener {
  readonly whole: Promise<Buffer>;
  readonly #request: ClientRequest;
  readonly #declared: number | undefined;
  readonly #limits: ProxyLimits;
  readonly #inFlight: ByteCount;
  #progressMs = performance.now();
  #bytes = 0;
  /** The first chunk, until a second shows that it was not all: most bodies come in one and are never copied. */
  #first: Buffer | undefined;
  /** Of the declared length, or of as much of it as has to be there. */
  #target: Buffer | undefined;
  #isOver = false;
  #idle: Deadline | undefined;
  #total: Deadline | undefined;
  #resolve: (body: Buffer) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor(request: ClientRequest, limits: ProxyLimits, inFlight: ByteCount) {
    this.#request = request;
    this.#declared = request.declaredBytes;
    this.#limits = limits;
    this.#inFlight = inFlight;
    this.whole = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#total = armDeadline(limits.bodyTimeoutMs, this.#onTooSlow);
    this.#idle = armDeadline(limits.bodyIdleTimeoutMs, this.#onSilence);
    request.read(this);
  }

  onChunk(chunk: Buffer): void {
    this.#accept(chunk);
    // What the body was refused for.
    if (this.#isOver) releaseBuffer(chunk);
  }

  #accept(chunk: Buffer): void {
    const bytes = this.#bytes + chunk.length;
    if (bytes > this.#limits.jsonBodyBytesMax) {
      this.#fail(tooLarge(this.#limits.jsonBodyBytesMax));
      return;
    }
    try {
      this.#inFlight.acquire(chunk.length);
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    this.#progressMs = performance.now();
    this.#keep(chunk);
    this.#bytes = bytes;
  }

  #keep(chunk: Buffer): void {
    if (this.#bytes === 0) {
      this.#first = chunk;
      return;
    }
    const before = this.#target ?? this.#first;
    const bytes = this.#bytes + chunk.length;
    if (this.#target === undefined || bytes > this.#target.length) {
      this.#target = Buffer.allocUnsafeSlow(this.#capacityFor(bytes));
      before?.copy(this.#target, 0, 0, this.#bytes);
      this.#first = undefined;
      releaseBuffer(before);
    }
    chunk.copy(this.#target, this.#bytes);
    releaseBuffer(chunk);
  }

  /** A declared length alone takes nothing that others need: memory follows what has come. */
  #capacityFor(bytes: number): number {
    const bytesMax = this.#declared ?? this.#limits.jsonBodyBytesMax;
    if (this.#declared !== undefined && bytesMax <= allocateAtOnceMax) return bytesMax;
    const least = this.#declared === undefined ? bytes : allocateAtOnceMax;
    return Math.min(bytesMax, Math.max(least, bytes * growthFactor));
  }

  onEnd(): void {
    if (this.#isOver) return;
    this.#finish();
    this.#resolve(this.#first ?? this.#target?.subarray(0, this.#bytes) ?? Buffer.alloc(0));
  }

  onFailed(error: HttpError | undefined): void {
    this.#fail(error === undefined ? new ClientGoneError() : gatewayErrorOf(error));
  }

  readonly #onTooSlow = (): void => {
    this.#fail(new GatewayError("request_timeout", "The body arrived too slowly. Send it again."));
  };

  /** One deadline that looks when it is over how long ago the last bytes came. */
  readonly #onSilence = (): void => {
    const { bodyIdleTimeoutMs } = this.#limits;
    const remainingMs = this.#progressMs + bodyIdleTimeoutMs - performance.now();
    if (remainingMs <= 0) this.#onTooSlow();
    else this.#idle = armDeadline(bodyIdleTimeoutMs, this.#onSilence, remainingMs);
  };

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#finish();
    this.#request.stopReading();
    this.#inFlight.release(this.#bytes);
    this.#bytes = 0;
    releaseBuffer(this.#target ?? this.#first);
    this.#first = this.#target = undefined;
    this.#reject(error);
  }

  #finish(): void {
    this.#isOver = true;
    this.#idle?.cancel();
    this.#total?.cancel();
  }
}
