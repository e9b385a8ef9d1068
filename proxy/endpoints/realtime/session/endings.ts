/**
 * The ends of a session that the gateway makes: an `error` event that says why, and then a close with a code for programs
 * (docs/design/realtime.md 5). Codes of RFC 6455 where one fits; 4000 and the status of HTTP where none does.
 */
import { GatewayError } from "#proxy/errors";
import { tooManyBytes } from "#proxy/http/in-flight-bytes";
import type { EndCode } from "#proxy/observe/access-log";
import { errorOfStop } from "#proxy/upstream/describe-outcome";
import { brokenOff, tooLarge } from "#proxy/web-socket/close-codes";

export interface Ending {
  readonly error: GatewayError;
  readonly closeCode: number;
  readonly end: EndCode;
}

export const revoked: Ending = { error: errorOfStop("revoked"), closeCode: 1008, end: "KD" };
export const drained: Ending = { error: errorOfStop("shutting-down"), closeCode: 1001, end: "DD" };
export const tooLong: Ending = {
  error: new GatewayError("session_expired", "The session was open for as long as a session may be. Open another one."),
  closeCode: 4408,
  end: "PD",
};
export const binaryMessage: Ending = {
  error: new GatewayError("invalid_json", "Binary messages are not part of this protocol: send JSON as text."),
  closeCode: 1003,
  end: "PD",
};
export const overloaded: Ending = { error: tooManyBytes(), closeCode: 1013, end: "RD" };
export const upstreamLost: Ending = {
  error: new GatewayError("upstream_error", "Upstream connection error: the connection failed or was lost."),
  closeCode: 1011,
  end: "SD",
};
export const upstreamInvalid: Ending = {
  error: new GatewayError("upstream_error", "Upstream server error: it sent a message that is not of this protocol."),
  closeCode: 1011,
  end: "SD",
};
const channelRefused: Ending = {
  ...upstreamLost,
  error: new GatewayError(
    "channel_refused",
    "Service unavailable: the upstream refused the gateway's own credential or account.",
  ),
};
const upstreamTooLarge: Ending = {
  error: new GatewayError("upstream_error", "Upstream server error: it sent a message that is larger than is taken."),
  closeCode: 1009,
  end: "SD",
};

/**
 * How the end of the upstream ends the session; undefined: with the upstream's own code. A code that it says is about what it
 * was sent, and the client is told it; only what it broke itself is its fault.
 * @param code as `WebSocketListener.onClosed` tells it, and `isViolation`
 * @param isChannelAtFault it told an error that concerns the channel before
 */
export function endingOfUpstream(code: number, isViolation: boolean, isChannelAtFault: boolean): Ending | undefined {
  if (isViolation) return code === tooLarge ? upstreamTooLarge : upstreamInvalid;
  if (code === brokenOff) return upstreamLost;
  return isChannelAtFault ? channelRefused : undefined;
}

/** A refusal after which the session cannot go on; undefined where another try may help, or another message. */
export function endingOf(error: GatewayError): Ending | undefined {
  switch (error.code) {
    case "insufficient_quota":
      return { error, closeCode: 4429, end: "RD" };
    case "unknown_key":
    case "key_suspended":
    case "key_expired":
    case "key_not_yet_valid":
    case "ip_not_allowed":
    case "account_required":
    case "protocol_not_allowed":
    case "capability_not_allowed":
      return { error, closeCode: 1008, end: "KD" };
    case "overloaded":
      return { error, closeCode: 1013, end: "RD" };
    case "internal":
      return { error, closeCode: 1011, end: "ID" };
    default:
      return undefined;
  }
}

/** The upstream runs what the key must not have: the session ends, since nothing else stops it. */
export function endingOfOverrun(error: GatewayError): Ending {
  const ending = endingOf(error);
  if (ending !== undefined) return ending;
  switch (error.code) {
    case "rate_limited":
    case "concurrency_limited":
      return { error, closeCode: 4429, end: "RD" };
    case "model_not_allowed":
    case "model_not_found":
      return { error, closeCode: 1008, end: "KD" };
    case "upstream_error":
      return { error, closeCode: 1011, end: "SD" };
    default:
      return { error, closeCode: 1013, end: "RD" };
  }
}
