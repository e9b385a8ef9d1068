/**
 * Wraps the upstream of a provider that signs each request: adds the signature's headers once path and body are final.
 */
import type { SentRequest, Upstream, UpstreamHandler } from "#proxy/http1/client/upstream";
import type { Provider } from "#proxy/providers/provider";

interface Signing {
  readonly sign: NonNullable<Provider["sign"]>;
  readonly secret: string;
  /** Scheme, host and port of the channel. */
  readonly origin: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export class SigningUpstream implements Pick<Upstream, "send"> {
  readonly #upstream: Pick<Upstream, "send">;
  readonly #signing: Signing;

  constructor(upstream: Pick<Upstream, "send">, signing: Signing) {
    this.#upstream = upstream;
    this.#signing = signing;
  }

  send(request: SentRequest, handler: UpstreamHandler): void {
    const { sign, secret, origin, now } = this.#signing;
    const { method = "POST", path, body, headers, fixedHeaders = [] } = request;
    if (!Buffer.isBuffer(body)) {
      // Its digest would be needed before its first byte is sent.
      handler.onError(new Error("this provider signs whole bodies: a body that is streamed cannot be sent to it"));
      return;
    }
    const signature = sign({ method, origin, path, headers: [...fixedHeaders, ...headers], body }, secret, now());
    this.#upstream.send({ ...request, headers: [...headers, ...signature] }, handler);
  }
}
