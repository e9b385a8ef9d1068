/** Reads the body of a request: a JSON object or a form. */
import type { IncomingMessage } from "node:http";
import { BadRequest } from "#examples/demo-upstream/format";
import { isObject } from "#examples/demo-upstream/json-view";
import { type DemoForm, readForm } from "./read-form.ts";

/** Larger bodies are refused: one is held whole, in a pod of 256 MiB. */
const bodyBytesMax = 64 * 1024 * 1024;

/** @throws BadRequest */
export async function readBody(request: IncomingMessage): Promise<DemoForm> {
  if (/^multipart\/form-data\b/i.test(request.headers["content-type"] ?? "")) return readForm(request, bodyBytesMax);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > bodyBytesMax) throw new BadRequest("", "The request is too large.");
    chunks.push(chunk);
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    if (isObject(body)) return { fields: body, files: [] };
  } catch {
    // Told below, like a body that is no object.
  }
  throw new BadRequest("", "We could not parse the JSON body of your request.");
}
