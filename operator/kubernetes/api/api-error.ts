/** The error of a call of the API server. Compare `code`, `status` and `reason`, never the text. */

/**
 * `refused`: it responded with an error, see `status`. `unreachable`: no connection, or it broke. `timeout`: no response in
 * time. `silent`: a watch that brought nothing for too long. `unreadable`: a response that is cut or no JSON.
 */
export type ApiErrorCode = "refused" | "unreachable" | "timeout" | "silent" | "unreadable";

export interface ApiErrorFacts {
  readonly code: ApiErrorCode;
  /** HTTP status, or the code of an `ERROR` event of a watch. */
  readonly status?: number | undefined;
  /** The API server's reason: `AlreadyExists`, `Conflict`, `Expired`, `Forbidden`, ... */
  readonly reason?: string | undefined;
  /** The wait that the API server asked for. */
  readonly retryAfterMs?: number | undefined;
  /** The error came as an `ERROR` event within a watch, not as the response's status. */
  readonly isEvent?: boolean;
  readonly cause?: unknown;
}

export class ApiError extends Error {
  readonly code: ApiErrorCode;
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly isEvent: boolean;

  constructor(message: string, { code, status, reason, retryAfterMs, isEvent = false, cause }: ApiErrorFacts) {
    super(message, cause === undefined ? {} : { cause });
    this.name = "ApiError";
    this.code = code;
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
    this.isEvent = isEvent;
  }
}

/** Whether an error is the API server's response with this status: 404 not found, 409 conflict, 410 gone. */
export function isApiStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}

/** Whether there was no response: the network or the API server failed, not the request. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ApiError && (error.code === "unreachable" || error.code === "timeout");
}
