/**
 * Reads the events from the body of a watch, one JSON object a line.
 *
 * A line that is cut or is not JSON ends the watch with an error, never silently, because the reader cannot know what
 * it missed.
 */
import type { Readable } from "node:stream";
import { ApiError } from "#operator/kubernetes/api/api-error";
import { type ApiObject, isApiObject, isRecord } from "#operator/kubernetes/api/api-object";

export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: ApiObject }
  | {
      /** Nothing changed up to this version. */
      readonly type: "BOOKMARK";
      readonly resourceVersion: string;
      /** The end of a streaming list. */
      readonly isInitialEnd: boolean;
    };

export interface WatchEventsOptions {
  readonly idleMs: number;
  /** The caller's signal: an abort is no failure of the connection. */
  readonly signal?: AbortSignal | undefined;
  readonly onBytes?: (count: number) => void;
}

/** An object has at most 1.5 MiB in etcd; JSON makes of it at most this. */
const lineBytesMax = 16 * 1024 * 1024;
const lineFeed = 0x0a;

export async function* watchEvents(response: Readable, options: WatchEventsOptions): AsyncGenerator<WatchEvent> {
  const timer = setTimeout(() => {
    const seconds = Math.round(options.idleMs / 1_000);
    response.destroy(new ApiError(`The watch was silent for ${seconds} s.`, { code: "silent" }));
  }, options.idleMs);
  let rest: Buffer[] = [];
  let restBytes = 0;
  try {
    for await (const piece of piecesOf(response, options.signal)) {
      timer.refresh();
      options.onBytes?.(piece.length);
      let start = 0;
      for (let end = piece.indexOf(lineFeed); end !== -1; end = piece.indexOf(lineFeed, start)) {
        // Most lines lie within one piece: those are read where they are.
        const line =
          rest.length === 0
            ? piece.toString("utf8", start, end)
            : Buffer.concat([...rest, piece.subarray(start, end)]).toString("utf8");
        rest = [];
        restBytes = 0;
        start = end + 1;
        if (line.trim() !== "") yield readEvent(line);
      }
      if (start < piece.length) {
        rest.push(piece.subarray(start));
        restBytes += piece.length - start;
        if (restBytes > lineBytesMax) throw new ApiError("A line of the watch is too long.", { code: "unreadable" });
      }
    }
    if (restBytes > 0) throw new ApiError("The watch ended within a line.", { code: "unreadable" });
  } finally {
    clearTimeout(timer);
    response.destroy();
  }
}

async function* piecesOf(response: Readable, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  try {
    for await (const piece of response) yield piece;
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    if (signal?.aborted) throw signal.reason;
    throw new ApiError("The connection of the watch broke.", { code: "unreachable", cause });
  }
}

function readEvent(line: string): WatchEvent {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // The parser's own message would quote the line, which may be a Secret.
    throw new ApiError("A line of the watch is not JSON.", { code: "unreadable" });
  }
  const event = toEvent(value);
  if (event === undefined) throw new ApiError("A line of the watch is not an event.", { code: "unreadable" });
  return event;
}

/** @throws ApiError for an `ERROR` event */
function toEvent(value: unknown): WatchEvent | undefined {
  if (!isRecord(value)) return undefined;
  const { type, object } = value;
  if (!isRecord(object)) return undefined;
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return isApiObject(object) && object.metadata.resourceVersion !== undefined ? { type, object } : undefined;
    case "BOOKMARK": {
      const metadata = object["metadata"];
      if (!isRecord(metadata) || typeof metadata["resourceVersion"] !== "string") return undefined;
      const { annotations, resourceVersion } = metadata;
      const isInitialEnd = isRecord(annotations) && annotations["k8s.io/initial-events-end"] === "true";
      return { type, resourceVersion, isInitialEnd };
    }
    case "ERROR": {
      const status = typeof object["code"] === "number" ? object["code"] : undefined;
      const reason = typeof object["reason"] === "string" ? object["reason"] : undefined;
      const message = typeof object["message"] === "string" ? object["message"] : "no message";
      throw new ApiError(`The watch ended with an error: ${message}`, {
        code: "refused",
        status,
        reason,
        isEvent: true,
      });
    }
    default:
      return undefined;
  }
}
