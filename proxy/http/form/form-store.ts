/**
 * Keeps the files of one form: the first 256 KiB of them in memory, the rest in one temporary file, one after the other.
 *
 * Pieces are written in the order in which they come and several at a time, while more of them arrive; who adds must pause
 * its source while too much waits. Everything that is held is counted, and `release` lets go of all of it at any moment.
 */
import type { ByteCount } from "#proxy/http/in-flight-bytes";
import type { SpooledContent } from "#proxy/multipart/form";
import { GrowingBuffer } from "./growing-buffer.ts";
import { type FormSpool, type SpoolFile, spoolError } from "./spool.ts";
import { WriteQueue } from "./write-queue.ts";

const memoryBytesMax = 256 * 1024;
/**
 * Written at once, where so much has come: each time goes to another thread and back. Measured for 10 MiB on a busy machine:
 * 35 ms of CPU in pieces of 512 KiB, 43 ms in pieces of 64 to 128 KiB.
 */
const batchBytes = 512 * 1024;
const readBytes = 256 * 1024;
/** So much may wait to be written, with the batch under way. Counted as long as the form is: senders read less. */
const queueBytesMax = 768 * 1024;

export interface FormStoreOptions {
  readonly spool: FormSpool;
  readonly inFlight: ByteCount;
  /** Less waits than may: the source can go on. */
  readonly onRoom: () => void;
  readonly onError: (error: Error) => void;
}

export class FormStore {
  readonly #options: FormStoreOptions;
  readonly #memory = new GrowingBuffer(memoryBytesMax);
  /** Behind those in memory. */
  #fileBytes = 0;
  #writtenBytes = 0;
  readonly #queue = new WriteQueue();
  #file: SpoolFile | undefined;
  #isSpilling = false;
  #writing: Promise<void> | undefined;
  #isReleased = false;

  constructor(options: FormStoreOptions) {
    this.#options = options;
  }

  /** All bytes added. */
  get length(): number {
    return this.#memory.length + this.#fileBytes;
  }

  /** The source must be paused until `onRoom`. */
  get isFull(): boolean {
    return this.#unwrittenBytes > queueBytesMax;
  }

  /** @param bytes of the chunk that `flush` gets next @throws GatewayError `overloaded` */
  add(bytes: Buffer): void {
    const inMemory = Math.min(bytes.length, memoryBytesMax - this.#memory.length);
    if (inMemory > 0) this.#remember(bytes.subarray(0, inMemory));
    if (inMemory < bytes.length) this.#spill(bytes.subarray(inMemory));
  }

  #remember(bytes: Buffer): void {
    this.#options.inFlight.acquire(bytes.length);
    this.#memory.add(bytes);
  }

  #spill(bytes: Buffer): void {
    const { spool, inFlight } = this.#options;
    if (!this.#isSpilling) inFlight.acquire(queueBytesMax);
    this.#isSpilling = true;
    spool.acquire(bytes.length);
    this.#fileBytes += bytes.length;
    this.#queue.add(bytes);
  }

  /** Nothing more of this chunk comes: what was added of it is written, and then its memory is given back. */
  flush(chunk: Buffer): void {
    this.#queue.endChunk(chunk);
    if (!this.#queue.isEmpty) this.#startWriting(batchBytes);
  }

  /** All has been added. Resolves when it is written; never rejects, since failures go to `onError`. */
  async written(): Promise<void> {
    await this.#writing;
    this.#startWriting(1);
    await this.#writing;
  }

  #startWriting(bytesLeast: number): void {
    if (this.#writing !== undefined || this.#isReleased || this.#unwrittenBytes < bytesLeast) return;
    this.#writing = this.#write(bytesLeast).finally(() => {
      this.#writing = undefined;
    });
  }

  get #unwrittenBytes(): number {
    return this.#fileBytes - this.#writtenBytes;
  }

  /** Never rejects. */
  async #write(bytesLeast: number): Promise<void> {
    try {
      const file = await this.#open();
      while (!this.#queue.isEmpty && this.#unwrittenBytes >= bytesLeast && !this.#isReleased) {
        const batch = this.#queue.take();
        await this.#writeAll(file, batch.pieces);
        batch.release();
        if (!this.#isReleased && !this.isFull) this.#options.onRoom();
      }
    } catch (error) {
      if (!this.#isReleased) this.#options.onError(spoolError(error));
    }
  }

  async #open(): Promise<SpoolFile> {
    if (this.#file !== undefined) return this.#file;
    const file = await this.#options.spool.openFile();
    if (this.#isReleased) await file.close();
    else this.#file = file;
    return file;
  }

  async #writeAll(file: SpoolFile, pieces: readonly Buffer[]): Promise<void> {
    let left = pieces;
    while (left.length > 0) {
      const bytes = await file.write(left, this.#writtenBytes);
      if (bytes === 0) throw new Error("the disk took nothing of what it was given");
      this.#writtenBytes += bytes;
      left = behind(left, bytes);
    }
  }

  /**
   * The bytes from one place to another, which have been written.
   * @param start their beginning
   */
  content(from: number, to: number, start: Buffer): SpooledContent {
    const inMemory = (): readonly Buffer[] | undefined => this.#inMemory(from, to);
    return {
      length: to - from,
      start,
      get pieces() {
        return inMemory();
      },
      chunks: (at = 0) => this.#read(from + at, to),
    };
  }

  /** The bytes from one place to another, if none of them is in the file. */
  #inMemory(from: number, to: number): readonly Buffer[] | undefined {
    if (this.#isReleased) throw new ReleasedFormError();
    const { bytes } = this.#memory;
    return to <= bytes.length ? [bytes.subarray(from, to)] : undefined;
  }

  async *#read(from: number, to: number): AsyncGenerator<Buffer> {
    if (this.#isReleased) throw new ReleasedFormError();
    const memory = this.#memory.bytes;
    if (from < memory.length) yield memory.subarray(from, Math.min(to, memory.length));
    let position = Math.max(from, memory.length) - memory.length;
    const end = to - memory.length;
    const buffer = end > position ? Buffer.allocUnsafeSlow(Math.min(readBytes, end - position)) : memory;
    while (position < end) {
      const into = buffer.subarray(0, Math.min(buffer.length, end - position));
      const bytes = await this.#openedFile().read(into, position);
      if (bytes === 0) throw new Error("the temporary file of a form is shorter than what was written to it");
      position += bytes;
      yield into.subarray(0, bytes);
    }
  }

  #openedFile(): SpoolFile {
    if (this.#isReleased || this.#file === undefined) throw new ReleasedFormError();
    return this.#file;
  }

  /** Any number of times. The file closes behind what is being written or read just now. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#queue.clear();
    this.#options.inFlight.release(this.#memory.length + (this.#isSpilling ? queueBytesMax : 0));
    this.#options.spool.release(this.#fileBytes);
    this.#memory.clear();
    // A file that cannot be closed has no name and no reader: nobody could do anything about it.
    this.#file?.close().catch(() => {});
    this.#file = undefined;
  }
}

/** A bug of ours, or an attempt that was given up and still reads. */
class ReleasedFormError extends Error {
  constructor() {
    super("the files of a form were read after it had been released");
    this.name = "ReleasedFormError";
  }
}

/** What is left of the pieces behind so many bytes. */
function behind(pieces: readonly Buffer[], bytes: number): readonly Buffer[] {
  let passed = bytes;
  let index = 0;
  for (; index < pieces.length; index += 1) {
    const { length } = pieces[index] ?? Buffer.alloc(0);
    if (length > passed) break;
    passed -= length;
  }
  const [first, ...rest] = pieces.slice(index);
  return first === undefined ? [] : [first.subarray(passed), ...rest];
}
