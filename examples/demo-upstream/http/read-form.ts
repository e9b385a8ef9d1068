/** Reads a `multipart/form-data` body: fields as text, files as bytes. */
import type { IncomingMessage } from "node:http";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { BadRequest } from "#examples/demo-upstream/format";
import type { JsonObject } from "#examples/demo-upstream/json-view";

export interface DemoFile {
  /** Name of the form's part, for example `image[]`. */
  readonly field: string;
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: Buffer;
}

export interface DemoForm {
  /** A name that came several times has a list; `name[]` is told as `name` and always has one. */
  readonly fields: JsonObject;
  readonly files: readonly DemoFile[];
}

/**
 * @param bytesMax of the whole body
 * @throws BadRequest for a body that is no form, ends early or is larger
 */
export async function readForm(request: IncomingMessage, bytesMax: number): Promise<DemoForm> {
  const contentType = request.headers["content-type"] ?? "";
  const fields = new Map<string, string | string[]>();
  const files: DemoFile[] = [];
  const parser = openParser(contentType);
  const ended = new Promise<void>((resolve, reject) => {
    parser.once("finish", resolve).once("error", reject);
  });
  // It is awaited below; until then its failure is nobody's.
  ended.catch(() => undefined);
  parser.on("field", (name, value) => addField(fields, name, value));
  parser.on("file", (field, stream, filename, _encoding, type) => {
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", () => undefined);
    stream.on("end", () => files.push({ field, filename, contentType: type, bytes: Buffer.concat(chunks) }));
  });
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > bytesMax) throw new BadRequest("", "The request is too large.");
    parser.write(chunk);
  }
  parser.end();
  await ended.catch(() => {
    throw new BadRequest("", "We could not parse the form of your request: its last part does not end.");
  });
  return { fields: Object.fromEntries(fields), files };
}

function openParser(contentType: string): BusboyInstance {
  try {
    return new Busboy({ headers: { "content-type": contentType } });
  } catch {
    throw new BadRequest("", "We could not parse the form of your request: its content type names no boundary.");
  }
}

function addField(fields: Map<string, string | string[]>, sent: string, value: string): void {
  const isList = sent.endsWith("[]");
  const name = isList ? sent.slice(0, -2) : sent;
  const before = fields.get(name);
  if (before === undefined) fields.set(name, isList ? [value] : value);
  else fields.set(name, [...(typeof before === "string" ? [before] : before), value]);
}
