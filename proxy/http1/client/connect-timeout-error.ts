/** Thrown into a connect that takes too long. */
export class ConnectTimeoutError extends Error {
  readonly code = "CONNECT_TIMEOUT";
  constructor(host: string, timeoutMs: number) {
    super(`no connection to ${host} within ${timeoutMs} ms`);
  }
}
