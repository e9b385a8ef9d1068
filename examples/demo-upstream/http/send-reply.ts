/** Sends a reply: whole, or piece by piece at a pace, with the faults that a call may ask for. */
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { DemoReply, StreamedReply } from "#examples/demo-upstream/endpoint";

export interface SendOptions {
  readonly serial: number;
  /** Pause before each piece; 0: full speed. */
  readonly paceMs: number;
  /** `cut`: end half-way, as if the process had died; `error-event`: fail half-way in the words of the format. */
  readonly fault: string | undefined;
}

export async function sendReply(response: ServerResponse, reply: DemoReply, options: SendOptions): Promise<void> {
  if (reply.kind === "streamed") await sendStream(response, reply, options);
  else sendWhole(response, 200, reply.contentType, reply.body);
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendWhole(response, status, "application/json", JSON.stringify(body));
}

function sendWhole(response: ServerResponse, status: number, contentType: string, body: string | Buffer): void {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  response.writeHead(status, {
    "content-type": contentType,
    "content-length": bytes.length,
    "x-request-id": "req_demo",
  });
  response.end(bytes);
}

async function sendStream(response: ServerResponse, reply: StreamedReply, options: SendOptions): Promise<void> {
  const { fault, paceMs, serial } = options;
  response.writeHead(200, {
    "content-type": reply.contentType,
    "cache-control": "no-cache",
    "x-request-id": `req_demo${serial}`,
  });
  const { length } = reply.pieces;
  const half = length === 1 ? 0 : Math.ceil(length / 2);
  for (const [index, piece] of reply.pieces.entries()) {
    if (response.destroyed) return;
    if (index === half && fault === "error-event" && reply.errorPiece !== undefined) {
      response.end(reply.errorPiece + (reply.ending ?? ""));
      return;
    }
    if (index === half && (fault === "cut" || fault === "error-event")) {
      // What was written goes out first; then FIN, without the end of the chunked body.
      response.socket?.end();
      return;
    }
    if (paceMs > 0) await sleep(paceMs);
    if (!response.write(piece)) await drained(response);
  }
  response.end(reply.ending);
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}
