/**
 * Makes the parts of a form out of its pieces: fields become text, files go to the store. Holds the bounds of parts.
 */
import { GatewayError } from "#proxy/errors";
import type { ByteCount } from "#proxy/http/in-flight-bytes";
import type { ProxyLimits } from "#proxy/limits";
import { type FormPart, startBytes } from "#proxy/multipart/form";
import type { FormListener } from "#proxy/multipart/form-splitter";
import { invalidForm } from "#proxy/multipart/invalid-form";
import type { PartHead } from "#proxy/multipart/part-head";
import type { FormStore } from "./form-store.ts";
import { GrowingBuffer } from "./growing-buffer.ts";

export type PartLimits = Pick<ProxyLimits, "formPartsMax" | "formFileBytesMax" | "formFieldBytesMax">;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

interface OpenField {
  readonly name: string;
  readonly contentType: string | undefined;
  readonly text: GrowingBuffer;
}

interface OpenFile {
  readonly name: string;
  readonly filename: string;
  readonly contentType: string | undefined;
  /** Where it begins in the store. */
  readonly from: number;
  start: Buffer;
}

export class PartCollector implements FormListener {
  readonly parts: FormPart[] = [];
  readonly #store: FormStore;
  readonly #inFlight: ByteCount;
  readonly #limits: PartLimits;
  readonly #repeated: ReadonlySet<string>;
  readonly #single = new Set<string>();
  #field: OpenField | undefined;
  #file: OpenFile | undefined;
  #fieldBytes = 0;

  /** @param repeated names of which there may be several parts */
  constructor(store: FormStore, inFlight: ByteCount, limits: PartLimits, repeated: ReadonlySet<string>) {
    this.#store = store;
    this.#inFlight = inFlight;
    this.#limits = limits;
    this.#repeated = repeated;
  }

  onPart({ name, filename, contentType }: PartHead): void {
    if (this.parts.length >= this.#limits.formPartsMax) {
      throw invalidForm(`it has more than ${this.#limits.formPartsMax} parts`);
    }
    if (this.#single.has(name)) throw invalidForm(`it has more than one part '${name}'`, name);
    if (!name.endsWith("[]") && !this.#repeated.has(name)) this.#single.add(name);
    if (filename === undefined)
      this.#field = { name, contentType, text: new GrowingBuffer(this.#limits.formFieldBytesMax) };
    else this.#file = { name, filename, contentType, from: this.#store.length, start: Buffer.alloc(0) };
  }

  onData(bytes: Buffer): void {
    if (this.#field !== undefined) this.#addToField(this.#field.text, bytes);
    else if (this.#file !== undefined) this.#addToFile(this.#file, bytes);
  }

  #addToField(text: GrowingBuffer, bytes: Buffer): void {
    const { formFieldBytesMax } = this.#limits;
    if (this.#fieldBytes + bytes.length > formFieldBytesMax) {
      throw new GatewayError("body_too_large", `The fields of the form are larger than ${formFieldBytesMax} bytes.`);
    }
    this.#inFlight.acquire(bytes.length);
    this.#fieldBytes += bytes.length;
    text.add(bytes);
  }

  #addToFile(file: OpenFile, bytes: Buffer): void {
    const { formFileBytesMax } = this.#limits;
    if (this.#store.length - file.from + bytes.length > formFileBytesMax) {
      const message = `The file '${file.name}' is larger than ${formFileBytesMax} bytes.`;
      throw new GatewayError("body_too_large", message, { param: file.name });
    }
    const missing = startBytes - file.start.length;
    if (missing > 0) file.start = Buffer.concat([file.start, bytes.subarray(0, missing)]);
    this.#store.add(bytes);
  }

  onPartEnd(): void {
    const field = this.#field;
    const file = this.#file;
    this.#field = this.#file = undefined;
    if (field !== undefined) {
      const { name, contentType } = field;
      this.parts.push({ kind: "field", name, contentType, value: toText(field) });
    }
    if (file === undefined) return;
    const { name, filename, contentType, from, start } = file;
    const content = this.#store.content(from, this.#store.length, start);
    this.parts.push({ kind: "file", name, filename, contentType, content });
  }

  /** Lets go of the fields. */
  release(): void {
    this.#inFlight.release(this.#fieldBytes);
    this.#fieldBytes = 0;
  }
}

function toText({ name, text: { bytes } }: OpenField): string {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw invalidForm(`the text of '${name}' is not UTF-8`, name);
  }
  // The name under which a form may say another charset (RFC 7578 section 4.6).
  if (name === "_charset_" && text.toLowerCase() !== "utf-8") throw invalidForm("its only charset is utf-8", name);
  return text;
}
