/**
 * The disk space that files of forms may take, for the whole process, and the temporary files themselves.
 *
 * A temporary file has no name once it is open, so nothing of it can outlive the process, however that ends. Beyond half of
 * the space a key holds no more than half of it (docs/design/reliability.md P8).
 */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { GatewayError } from "#proxy/errors";
import { type ByteCount, type BytesOwner, InFlightBytes } from "#proxy/http/in-flight-bytes";

/** Linux opens a file that never has a name; Node does not list the flag, whose other half differs between processors. */
const namelessFlags =
  process.platform === "linux" ? 0o20_000_000 | constants.O_DIRECTORY | constants.O_RDWR | constants.O_EXCL : undefined;
/** What file systems say that cannot do this. */
const cannotBeNameless: ReadonlySet<unknown> = new Set(["EOPNOTSUPP", "EISDIR", "EINVAL", "ENOSYS"]);

export class Spool {
  readonly #folder: string;
  readonly #room: InFlightBytes;

  /** @param folder must exist @param bytesMax `ProxyLimits.spoolBytesMax` */
  constructor(folder: string, bytesMax: number) {
    this.#folder = folder;
    this.#room = new InFlightBytes(bytesMax);
  }

  /** Bytes that all forms hold on disk now. */
  get bytes(): number {
    return this.#room.bytes;
  }

  /** The space of one call. @param key of its caller */
  ofCall(key: BytesOwner): CallSpool {
    return new CallSpool(this.#room.ofCall(key), this.#folder);
  }
}

/** An open temporary file. Failures are errors of the system, with their `code`. */
export interface SpoolFile {
  /** @returns how many bytes were written: perhaps not all */
  write(pieces: readonly Buffer[], position: number): Promise<number>;
  /** Reads into the whole buffer. @returns how many bytes there were: none behind the end */
  read(into: Buffer, position: number): Promise<number>;
  /** Behind what is being written or read. */
  close(): Promise<void>;
}

/** What the files of one form need. */
export interface FormSpool {
  /** The same amount must be released, on every way out. @throws GatewayError `overloaded`; nothing is taken then */
  acquire(bytes: number): void;
  release(bytes: number): void;
  /** Opens a file to write and to read that no name leads to. @throws Error of the system, with its `code` */
  openFile(): Promise<SpoolFile>;
}

/** The share of one call in the spool. */
export class CallSpool implements FormSpool {
  readonly #room: ByteCount;
  readonly #folder: string;

  constructor(room: ByteCount, folder: string) {
    this.#room = room;
    this.#folder = folder;
  }

  acquire(bytes: number): void {
    if (this.#room.tryAcquire(bytes)) return;
    const message = "The gateway is overloaded: it has no more room for files of forms at the moment. Try again.";
    throw new GatewayError("overloaded", message);
  }

  release(bytes: number): void {
    this.#room.release(bytes);
  }

  async openFile(): Promise<SpoolFile> {
    if (namelessFlags !== undefined) {
      try {
        return new TemporaryFile(await open(this.#folder, namelessFlags, 0o600));
      } catch (error) {
        if (!cannotBeNameless.has(codeOf(error))) throw error;
      }
    }
    return openUnlinked(join(this.#folder, `tollgate-${randomUUID()}`));
  }
}

class TemporaryFile implements SpoolFile {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async write(pieces: readonly Buffer[], position: number): Promise<number> {
    return (await this.#handle.writev(pieces, position)).bytesWritten;
  }

  async read(into: Buffer, position: number): Promise<number> {
    return (await this.#handle.read(into, 0, into.length, position)).bytesRead;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** Should the process be killed between the two steps, an empty file is left. */
async function openUnlinked(path: string): Promise<SpoolFile> {
  const file = await open(path, "wx+", 0o600);
  try {
    await unlink(path);
  } catch (error) {
    await file.close();
    throw error;
  }
  return new TemporaryFile(file);
}

/** What kept the spool from working, as its client is told: a full disk passes, anything else is a fault of ours. */
export function spoolError(cause: unknown): GatewayError {
  const code = codeOf(cause);
  const isFull = code === "ENOSPC" || code === "EDQUOT" || code === "EMFILE" || code === "ENFILE";
  return isFull
    ? new GatewayError("overloaded", "The gateway is overloaded: it cannot keep the files at the moment. Try again.", {
        cause,
      })
    : new GatewayError("internal", "The gateway could not keep the files of the form.", { cause });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
