/**
 * Reads a JSON request body strictly within limits, copying each byte at most once.
 *
 * What the headers already give away is refused before a byte is read; a body is refused at its first excess byte, and
 * silence or a total time ends it. All bytes held are counted against one cap for the whole process, as they arrive: a
 * declared length alone takes nothing from others. Called by `handle-request.ts` after the head has been authenticated
 * and authorised, so that no stranger makes the gateway read a body.
 */
import type { IncomingMessage } from "node:http";
import { GatewayError } from "../errors.ts";
import type { ProxyLimits } from "../limits.ts";
import { checkJsonContentType, readContentEncoding } from "./content-rules.ts";
import { armDeadline, type Deadline } from "./deadlines.ts";
import { headerValues } from "./header-values.ts";
import type { ByteCount } from "./in-flight-bytes.ts";
import { inflateBody } from "./inflate-body.ts";

export interface RequestBody {
  readonly bytes: Buffer;
  /** Taken from the in-flight count: the caller releases them when it lets go of the body. */
  readonly heldBytes: number;
}

/** The client left before its body was whole: there is nobody to answer. Compare `code`. */
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
const growth = 4;

/**
 * A promise only where a body is still on its way or packed.
 * @param ask asks for the body: called where the head gives nothing away for which it would be refused
 * @throws GatewayError `unsupported_media_type`, `body_too_large`, `request_timeout`, `overloaded`, `invalid_json`
 *   (bad encoding); `ClientGoneError`. Nothing stays counted in flight after a throw.
 */
export function readBody(
  request: IncomingMessage,
  limits: ProxyLimits,
  inFlight: ByteCount,
  ask?: () => void,
): RequestBody | Promise<RequestBody> {
  checkJsonContentType(request.rawHeaders);
  const encoding = readContentEncoding(request.rawHeaders);
  const bytesMax = limits.jsonBodyBytesMax;
  const declared = declaredLength(request);
  if (declared !== undefined && declared > bytesMax) throw tooLarge(bytesMax);
  ask?.();
  const bytes = encoding === "identity" ? bodyAtHand(request, declared) : undefined;
  if (bytes === undefined) return collectBody(request, declared, encoding, limits, inFlight);
  inFlight.take(bytes.length);
  return { bytes, heldBytes: bytes.length };
}

/** Most bodies have come with their head: nothing must be waited for, so nothing listens and no deadline is armed. */
function bodyAtHand(request: IncomingMessage, declared: number | undefined): Buffer | undefined {
  if (!request.complete || request.readableLength === 0 || request.readableLength !== declared) return undefined;
  const bytes: unknown = request.read();
  return bytes instanceof Buffer ? bytes : undefined;
}

async function collectBody(
  request: IncomingMessage,
  declared: number | undefined,
  encoding: ReturnType<typeof readContentEncoding>,
  limits: ProxyLimits,
  inFlight: ByteCount,
): Promise<RequestBody> {
  const packed = await new BodyReader(request, declared, limits, inFlight).whole;
  if (encoding === "identity") return { bytes: packed, heldBytes: packed.length };
  try {
    const bytes = await inflateBody(packed, encoding, limits.jsonBodyBytesMax, inFlight);
    return { bytes, heldBytes: bytes.length };
  } finally {
    inFlight.release(packed.length);
  }
}

/** Node has checked the field's form and that it stands there once. */
function declaredLength(request: IncomingMessage): number | undefined {
  const [length] = headerValues(request.rawHeaders, "content-length");
  return length === undefined ? undefined : Number(length);
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError("body_too_large", `The body is larger than ${bytesMax} bytes.`);
}

/**
 * What a chunked body may cost on the wire beyond its bytes: one-byte chunks, each in a TLS record of its own, stay below.
 * More is chunk extensions, which Node bounds for one chunk only (RELIABILITY.md D4).
 */
const framingBytesMax = (bodyBytes: number): number => 64 * 1024 + 64 * bodyBytes;

/** What is smaller is not worth the call, and may share its memory with others. */
const freedBytesLeast = 16 * 1024;

/**
 * Gives memory back without waiting for the collector: what does is counted nowhere, and a few dozen large bodies at once
 * leave more of it behind than all that is held.
 *
 * @param own read by nobody any more
 */
function freeNow(own: Buffer | undefined): void {
  if (own === undefined || own.length < freedBytesLeast) return;
  const { buffer } = own;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === own.length) buffer.transfer(0);
}

/** One body on its way in. */
class BodyReader {
  readonly whole: Promise<Buffer>;
  readonly #request: IncomingMessage;
  readonly #declared: number | undefined;
  readonly #limits: ProxyLimits;
  readonly #inFlight: ByteCount;
  readonly #wireBytesBefore: number;
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

  constructor(request: IncomingMessage, declared: number | undefined, limits: ProxyLimits, inFlight: ByteCount) {
    this.#request = request;
    this.#declared = declared;
    this.#wireBytesBefore = declared === undefined ? request.socket.bytesRead : 0;
    this.#limits = limits;
    this.#inFlight = inFlight;
    this.whole = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    request.on("data", this.#onData);
    request.on("end", this.#onEnd);
    request.on("error", this.#onGone);
    request.on("close", this.#onGone);
    this.#total = armDeadline(limits.bodyTimeoutMs, this.#onTooSlow);
    this.#idle = armDeadline(limits.bodyIdleTimeoutMs, this.#onSilence);
    // A call waits for its turn before its body is looked at: who left meanwhile is heard of no more.
    if (request.destroyed) this.#onGone();
  }

  readonly #onData = (chunk: Buffer): void => {
    if (!this.#isOver) this.#take(chunk);
    // What refused the body, and what is still drained of it.
    if (this.#isOver) freeNow(chunk);
  };

  #take(chunk: Buffer): void {
    const bytes = this.#bytes + chunk.length;
    if (bytes > this.#limits.jsonBodyBytesMax) {
      this.#fail(tooLarge(this.#limits.jsonBodyBytesMax));
      return;
    }
    if (this.#declared === undefined && this.#wireBytes() > bytes + framingBytesMax(bytes)) {
      this.#fail(new GatewayError("bad_request_framing", "The chunks of the body carry too much beside it."));
      return;
    }
    try {
      this.#inFlight.take(chunk.length);
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    this.#progressMs = performance.now();
    this.#keep(chunk);
    this.#bytes = bytes;
  }

  #wireBytes(): number {
    return this.#request.socket.bytesRead - this.#wireBytesBefore;
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
      freeNow(before);
    }
    chunk.copy(this.#target, this.#bytes);
    freeNow(chunk);
  }

  /** A declared length alone takes nothing that others need: memory follows what has come. */
  #capacityFor(bytes: number): number {
    const bytesMax = this.#declared ?? this.#limits.jsonBodyBytesMax;
    if (this.#declared !== undefined && bytesMax <= allocateAtOnceMax) return bytesMax;
    const least = this.#declared === undefined ? bytes : allocateAtOnceMax;
    return Math.min(bytesMax, Math.max(least, bytes * growth));
  }

  readonly #onEnd = (): void => {
    if (this.#isOver) return;
    // Node ends a message only when it is as long as declared; what is cut short closes instead.
    this.#finish();
    this.#resolve(this.#first ?? this.#target?.subarray(0, this.#bytes) ?? Buffer.alloc(0));
  };

  readonly #onGone = (cause?: unknown): void => {
    // Every request closes in the end: only one that is not whole is a client that left.
    if (!this.#isOver) this.#fail(new ClientGoneError(cause));
  };

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
    this.#request.pause();
    this.#inFlight.release(this.#bytes);
    this.#bytes = 0;
    freeNow(this.#target ?? this.#first);
    this.#first = this.#target = undefined;
    this.#reject(error);
  }

  /** The listeners stay and hear nothing: taking four of them off again costs more than the message lives. */
  #finish(): void {
    this.#isOver = true;
    this.#idle?.cancel();
    this.#total?.cancel();
  }
}
