/** Sends one call to the API server, reads its response and names its failure. */
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { ApiError } from "./api-error.ts";
import { isRecord } from "./api-object.ts";
import type { ClusterAccess } from "./cluster-access.ts";
import type { CallDeadline } from "./deadline.ts";

/** One call and how it is sent. */
export interface Call {
  /** As metrics name it. */
  readonly verb: "get" | "list" | "watch" | "create" | "update" | "apply" | "probe";
  readonly resource: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH";
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Longer than any page of a list that we ask for: objects have at most 1.5 MiB, and most have a few KiB. */
const responseBytesMax = 512 * 1024 * 1024;
/** First probe of a silent connection; with the kernel's usual nine probes a dead peer shows within minutes at worst. */
const keepAliveProbeMs = 15_000;

/**
 * Sends a call. @returns the response once its head is there, whatever its status
 *
 * @throws ApiError when there is none; the asker's own reason where that gave up
 */
export async function sendCall(
  access: ClusterAccess,
  call: Call,
  userAgent: string,
  deadline: CallDeadline | undefined,
): Promise<IncomingMessage> {
  const { headers, agent } = await access.credentials();
  const { hostname, port, pathname } = access.server;
  const payload = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest({
      agent,
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port: port === "" ? 443 : port,
      method: call.method,
      path: `${pathname.replace(/\/$/, "")}${call.path}`,
      headers: {
        ...headers,
        accept: "application/json",
        "user-agent": userAgent,
        ...(payload && { "content-type": call.contentType ?? "application/json", "content-length": payload.length }),
      },
      ...(call.signal && { signal: call.signal }),
    });
    // A watch has no deadline, but its head has.
    const timer = setTimeout(() => {
      outgoing.destroy(new ApiError(`No response to ${describe(call)} in time.`, { code: "timeout" }));
    }, call.timeoutMs).unref();
    outgoing.once("socket", (socket) => socket.setKeepAlive(true, keepAliveProbeMs));
    outgoing.once("response", (response) => {
      clearTimeout(timer);
      resolve(response);
    });
    outgoing.once("error", (cause) => {
      clearTimeout(timer);
      reject(failureOf(call, cause, deadline));
    });
    outgoing.end(payload);
  });
}

/** The whole body as text. @throws ApiError when it breaks, is too long or does not come in time */
export async function readText(
  response: IncomingMessage,
  call: Call,
  deadline: CallDeadline | undefined,
): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of response) {
      bytes += piece.length;
      if (bytes > responseBytesMax) {
        throw new ApiError(`The response to ${describe(call)} is too long.`, { code: "unreadable" });
      }
      pieces.push(piece);
    }
  } catch (cause) {
    throw failureOf(call, cause, deadline);
  }
  return Buffer.concat(pieces, bytes).toString("utf8");
}

function failureOf(call: Call, cause: unknown, deadline: CallDeadline | undefined): unknown {
  if (cause instanceof ApiError) return cause;
  if (deadline?.isOver) return new ApiError(`No response to ${describe(call)} in time.`, { code: "timeout" });
  // The caller gave up: that is no failure of the API server.
  if (call.signal?.aborted) return call.signal.reason;
  const word = cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : "";
  return new ApiError(`The API server is unreachable for ${describe(call)}${word}.`, { code: "unreachable", cause });
}

/** The error of a refused call, with the API server's message, which names objects and fields and holds no Secret. */
export function refusal(call: Call, response: IncomingMessage, text: string): ApiError {
  const status = response.statusCode ?? 0;
  let reason: string | undefined;
  let message = "";
  let retryAfterMs: number | undefined;
  const header = response.headers["retry-after"];
  if (header !== undefined && /^[0-9]{1,6}$/.test(header)) retryAfterMs = Number(header) * 1_000;
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) {
      if (typeof value["reason"] === "string") reason = value["reason"];
      if (typeof value["message"] === "string") message = `: ${value["message"].slice(0, 500)}`;
      const details = value["details"];
      if (isRecord(details) && typeof details["retryAfterSeconds"] === "number")
        retryAfterMs ??= details["retryAfterSeconds"] * 1_000;
    }
  } catch {
    // The response comes from something in front of the API server; its status has to suffice.
  }
  return new ApiError(`The API server responded with ${status} to ${describe(call)}${message}`, {
    code: "refused",
    status,
    reason,
    retryAfterMs,
  });
}

/** Method and path without the query: it names objects and holds no secret. */
export function describe({ method, path }: Call): string {
  return `${method} ${path.split("?")[0]}`;
}
