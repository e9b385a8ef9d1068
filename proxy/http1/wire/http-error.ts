/** Why a message of the other side is refused; closed. */
export type HttpErrorCode =
  /** It is no valid HTTP/1. */
  | "HTTP_SYNTAX"
  /** Its head is longer, or has more fields, than the limits allow. */
  | "HEAD_TOO_LARGE"
  /** Where its body ends, or for whom it is, cannot be told for sure. */
  | "AMBIGUOUS_FRAMING"
  /** `Expect` asks for something other than `100 Continue`. */
  | "UNKNOWN_EXPECTATION"
  /** CONNECT: what follows it is no HTTP. */
  | "UNSERVED_METHOD"
  /** The head of a request took too long to arrive. */
  | "REQUEST_TIMEOUT";

/**
 * The one error for what the other side sends, on both sides of the gateway. Compare `code`.
 *
 * The message holds nothing of what the other side sent: for a request it may be sent to the client as it is.
 */
export class HttpError extends Error {
  readonly code: HttpErrorCode;

  constructor(code: HttpErrorCode, message: string) {
    super(message);
    this.name = "HttpError";
    this.code = code;
  }
}
