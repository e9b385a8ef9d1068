/** Codes with which a WebSocket ends (RFC 6455 section 7.4). */

export const normalClosure = 1000;
export const goingAway = 1001;
export const protocolError = 1002;
/** Stands in no frame: a close without a code. */
export const noCode = 1005;
/** Stands in no frame: the connection broke without a close. */
export const brokenOff = 1006;
export const invalidText = 1007;
export const tooManyFrames = 1008;
export const tooLarge = 1009;

/** Whether a code may stand in a frame: those of the table but the reserved ones, and those of applications. */
export function isSendable(code: number): boolean {
  return (code >= 1000 && code <= 1014 && ![1004, noCode, brokenOff].includes(code)) || (code >= 3000 && code <= 4999);
}
