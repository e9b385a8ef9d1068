/**
 * Splits the bytes of a form into its parts, wherever they are cut.
 *
 * The library finds boundaries and heads; what it leaves to others is refused here (docs/design/reliability.md E8): text in
 * front of the first boundary, heads that are missing or too long, an end without the last boundary. It hands its parts out
 * as streams, which are read to their end after each piece, so that nothing waits in them.
 */
import { Dicer } from "@fastify/busboy";
import { invalidForm } from "./invalid-form.ts";
import { type PartHead, readPartHead } from "./part-head.ts";

export interface FormListener {
  /** @throws GatewayError to refuse the form; likewise in the next one */
  onPart(head: PartHead): void;
  /** The bytes lie in those that were pushed. */
  onData(bytes: Buffer): void;
  onPartEnd(): void;
}

/** All lines of one head. */
const headBytesMax = 8 * 1024;
const headLinesMax = 32;
/** Some clients begin with a line break. */
const preambleBytesMax = 2;

interface OpenPart {
  readonly stream: Dicer.PartStream;
  head: ReadonlyMap<string, readonly string[]> | undefined;
  hasBegun: boolean;
}

export class FormSplitter {
  readonly #listener: FormListener;
  readonly #dicer: Dicer;
  readonly #parts: OpenPart[] = [];
  #preamble: Dicer.PartStream | undefined;
  #preambleBytes = 0;
  /** Pushed since the last part began, as long as it has no head. */
  #headBytes = 0;
  #isFinished = false;
  #onFinished: (() => void) | undefined;
  #onBroken: (() => void) | undefined;
  #isBroken = false;

  /** @param boundary as `readBoundary` found it */
  constructor(boundary: string, listener: FormListener) {
    this.#listener = listener;
    const config: Dicer.Config & { readonly maxHeaderSize: number } = {
      boundary,
      maxHeaderPairs: headLinesMax + 1,
      maxHeaderSize: headBytesMax + 1,
    };
    this.#dicer = new Dicer(config);
    this.#dicer.on("preamble", (stream) => {
      stream.on("error", () => {});
      this.#preamble = stream;
    });
    this.#dicer.on("part", (stream) => this.#open(stream));
    this.#dicer.on("finish", () => {
      this.#isFinished = true;
      this.#onFinished?.();
    });
    this.#dicer.on("error", () => {
      this.#isBroken = true;
      this.#onBroken?.();
    });
  }

  /** @throws GatewayError `invalid_form`, and what the listener throws; nothing more may be pushed then */
  push(bytes: Buffer): void {
    // What follows the last boundary is no part of the form.
    if (this.#isFinished) return;
    this.#headBytes += bytes.length;
    this.#dicer.write(bytes);
    this.#drain();
  }

  /** The body is over. @throws GatewayError `invalid_form` where the form is not */
  async end(): Promise<void> {
    this.#dicer.end();
    this.#drain();
    await new Promise<void>((resolve, reject) => {
      this.#onFinished = resolve;
      this.#onBroken = () => reject(invalidForm("it ends before its last boundary"));
      if (this.#isBroken) this.#onBroken();
      else if (this.#isFinished) resolve();
    });
    this.#drain();
    const last = this.#parts.pop();
    if (last !== undefined) this.#close(last);
  }

  #open(stream: Dicer.PartStream): void {
    const part: OpenPart = { stream, head: undefined, hasBegun: false };
    stream.on("error", () => {});
    stream.on("header", (fields) => {
      part.head = new Map(Object.entries(fields).map(([name, values]) => [name, toTexts(values)]));
    });
    this.#parts.push(part);
    this.#headBytes = 0;
  }

  /** Hands on what has come. All parts but the last have ended. */
  #drain(): void {
    this.#drainPreamble();
    for (let part = this.#parts[0]; part !== undefined; part = this.#parts[0]) {
      if (part.head !== undefined) this.#read(part, part.head);
      if (this.#parts.length === 1) break;
      this.#parts.shift();
      this.#close(part);
    }
    if (this.#parts[0]?.head === undefined && this.#parts.length > 0 && this.#headBytes > headBytesMax)
      throw longHead();
  }

  #drainPreamble(): void {
    if (this.#preamble === undefined) return;
    for (const bytes of piecesOf(this.#preamble)) this.#preambleBytes += bytes.length;
    if (this.#preambleBytes > preambleBytesMax) {
      throw invalidForm("it must begin with its boundary, and lines must end with CR LF");
    }
    if (this.#parts.length > 0) this.#preamble = undefined;
  }

  #read(part: OpenPart, head: NonNullable<OpenPart["head"]>): void {
    if (!part.hasBegun) {
      part.hasBegun = true;
      checkLength(head);
      this.#listener.onPart(readPartHead(head));
    }
    for (const bytes of piecesOf(part.stream)) this.#listener.onData(bytes);
  }

  #close(part: OpenPart): void {
    if (!part.hasBegun) throw invalidForm("a part has no head");
    this.#listener.onPartEnd();
  }
}

/** Also tells a stream that has ended that its end was read. */
function* piecesOf(stream: Dicer.PartStream): Generator<Buffer> {
  for (let piece: unknown = stream.read(); piece !== null; piece = stream.read()) {
    if (Buffer.isBuffer(piece)) yield piece;
  }
}

/** The library cuts a head that is too long instead of refusing it. */
function checkLength(head: NonNullable<OpenPart["head"]>): void {
  let lines = 0;
  let bytes = 0;
  for (const [name, values] of head) {
    lines += values.length;
    for (const value of values) bytes += name.length + value.length + 4;
  }
  if (lines > headLinesMax || bytes > headBytesMax) throw longHead();
}

function longHead(): Error {
  return invalidForm(`the head of a part is longer than ${headBytesMax} bytes or ${headLinesMax} lines`);
}

function toTexts(values: unknown): readonly string[] {
  return Array.isArray(values) ? values.filter((value) => typeof value === "string") : [];
}
