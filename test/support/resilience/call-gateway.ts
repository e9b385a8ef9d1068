/** Calls to a gateway over bare sockets, in any of the four formats, and what came back. */
import { RawClient, type RawResponse } from "#test/support/raw-client";
import type { FormatUnderTest } from "./formats.ts";
import { rawKey } from "./manifests.ts";

export interface CallOptions {
  readonly port: number;
  readonly format: FormatUnderTest;
  readonly model: string;
  /** Name of the key; `main` unless given. */
  readonly key?: string;
  /** True unless given. */
  readonly stream?: boolean;
  readonly prompt?: string;
  /** Further members of the body. */
  readonly changes?: object;
}

/** The bytes of one call; the connection stays open after it. */
export function callBytes(options: CallOptions): string {
  const { format, model, stream = true, prompt = "hi", key = "main", changes = {} } = options;
  const body = JSON.stringify({ ...format.body(model, stream, prompt), ...changes });
  return (
    `POST ${format.path(model, stream)} HTTP/1.1\r\nhost: gateway\r\n${format.keyHeader(rawKey(key))}\r\n` +
    `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

/** Connects and sends a call; the caller reads and closes. */
export async function openCall(options: CallOptions): Promise<RawClient> {
  const client = await RawClient.connect({ port: options.port });
  client.write(callBytes(options));
  return client;
}

export interface Answer extends RawResponse {
  readonly text: string;
  /** The body parsed; throws when it is not JSON. */
  json(): unknown;
  readonly tookMs: number;
}

/** One call on a connection of its own. */
export async function call(options: CallOptions, deadlineMs = 10_000): Promise<Answer> {
  const startedMs = performance.now();
  const client = await openCall(options);
  try {
    const response = await client.readResponse(deadlineMs);
    const text = response.body.toString("utf8");
    return { ...response, text, json: () => JSON.parse(text), tookMs: performance.now() - startedMs };
  } finally {
    client.close();
  }
}
