/** Requests as bytes: what a test does not say otherwise is what an ordinary client would send. */
import { clientKeys } from "./rig-manifests.ts";

export interface RawRequest {
  readonly method?: string;
  readonly target?: string;
  readonly version?: string;
  /** Lines without their end; replace nothing but what they name: see `key`, `type`, `host` and `framing`. */
  readonly headers?: readonly string[];
  /** Sent as `Authorization: Bearer`; null: no credential. */
  readonly key?: string | null;
  readonly body?: string | Buffer;
  /** Null: no `Content-Type`. */
  readonly type?: string | null;
  /** Null: no `Host`. */
  readonly host?: string | null;
  /** `length` states the body's length; `none` leaves framing to `headers`. */
  readonly framing?: "length" | "none";
}

/** Marks requests that must never reach an upstream. */
export const forbiddenMark = "mark-of-a-refused-request";

export function chatBody(model = "open-a", text = "hello"): string {
  return JSON.stringify({ model, messages: [{ role: "user", content: text }] });
}

/** A body whose arrival at an upstream would be the failure. */
export const refusedBody = chatBody("open-a", forbiddenMark);

export function rawRequest(request: RawRequest = {}): Buffer {
  const { method = "POST", target = "/v1/chat/completions", version = "HTTP/1.1" } = request;
  const { key = clientKeys.good, type = "application/json", host = "gateway.test", framing = "length" } = request;
  const body = Buffer.from(request.body ?? (method === "POST" ? refusedBody : ""));
  const lines = [
    `${method} ${target}${version === "" ? "" : ` ${version}`}`,
    ...(host === null ? [] : [`Host: ${host}`]),
    ...(key === null ? [] : [`Authorization: Bearer ${key}`]),
    ...(type === null || body.length === 0 ? [] : [`Content-Type: ${type}`]),
    ...(framing === "none" || body.length === 0 ? [] : [`Content-Length: ${body.length}`]),
    ...(request.headers ?? []),
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), body]);
}

/** A request that is served. @param mark stands in its prompt */
export function goodRequest(mark = "good", key: string = clientKeys.good): Buffer {
  return rawRequest({ key, body: chatBody("open-a", mark) });
}

/** A body in chunks of this size, with its end. */
export function chunked(body: string | Buffer, size = Number.POSITIVE_INFINITY): Buffer {
  const bytes = Buffer.from(body);
  const parts: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += size) {
    const piece = bytes.subarray(start, Math.min(bytes.length, start + size));
    parts.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n"));
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}
