/**
 * Serves the push endpoint in a cluster: the push app over TLS 1.3, with a certificate that can be replaced while it
 * serves.
 *
 * A new certificate counts from the next handshake on; open streams keep the former one. Strangers cost little: a
 * handshake and the head of a request have seconds, and a token that does not fit is refused without a review.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { createServer, type Server } from "node:https";
import type { ServingCertificate, ServingCertificates } from "#operator/certificates/serving-certificates";
import { type RefusalReason, ReviewUnavailableError } from "./authenticate/peer.ts";
import type { TokenVerdict, TokenVerifier } from "./authenticate/verify-token.ts";
import type { ProxyIdentity, PushAppOptions } from "./push-options.ts";
import { createPushApp, keepAliveMs } from "./push-server.ts";

export interface TlsListenerOptions extends Omit<PushAppOptions, "authenticateProxy"> {
  readonly certificates: ServingCertificates;
  readonly verifier: Pick<TokenVerifier, "verify">;
  readonly onRefused: (reason: RefusalReason) => void;
}

const malformed: TokenVerdict = { refused: "malformed_token" };
const handshakeTimeoutMs = 5_000;
const headTimeoutMs = 5_000;
const bodyTimeoutMs = 30_000;
/** Two connections for each proxy of the largest fleet, and room for proxies that reconnect before the old stream ends. */
const connectionsMax = 4_096;

/** @throws when the port cannot be opened, or there is no certificate yet */
export async function listenOverTls(
  options: TlsListenerOptions,
  listen: { readonly host: string; readonly port: number },
): Promise<{ readonly server: Server; readonly port: number }> {
  const { certificates, onRefused } = options;
  const serving = certificates.current;
  if (serving === undefined) throw new Error("the operator has no certificate yet");
  const app = createPushApp({ ...options, authenticateProxy: (request) => authenticate(request, options) });
  const server = createServer(
    {
      ...contextOf(serving),
      handshakeTimeout: handshakeTimeoutMs,
      headersTimeout: headTimeoutMs,
      requestTimeout: bodyTimeoutMs,
      keepAliveTimeout: keepAliveMs(options),
    },
    app,
  );
  server.maxConnections = connectionsMax;
  server.on("tlsClientError", (error: Error & { code?: string }) => {
    onRefused(reasonOf(error.code));
  });
  const stopFollowing = certificates.onChange((next) => server.setSecureContext(contextOf(next)));
  server.once("close", stopFollowing);
  server.listen(listen.port, listen.host);
  await once(server, "listening");
  const bound = server.address();
  return { server, port: typeof bound === "object" && bound !== null ? bound.port : listen.port };
}

function contextOf({ certificate, privateKey }: ServingCertificate) {
  return { cert: certificate, key: privateKey, minVersion: "TLSv1.3" } as const;
}

async function authenticate(
  { headers, headersDistinct }: IncomingMessage,
  { verifier, onRefused }: TlsListenerOptions,
): Promise<ProxyIdentity | undefined> {
  // Of two headers Node keeps the first, and another hop might have checked the second.
  const isSingle = (headersDistinct["authorization"]?.length ?? 0) <= 1;
  const verdict = isSingle ? await verify(verifier, headers.authorization, onRefused) : malformed;
  if ("peer" in verdict) {
    const { role, pod } = verdict.peer;
    return { name: `${role}/${pod}`, role, pod };
  }
  onRefused(verdict.refused);
  return undefined;
}

async function verify(
  verifier: TlsListenerOptions["verifier"],
  authorization: string | undefined,
  onRefused: TlsListenerOptions["onRefused"],
): Promise<TokenVerdict> {
  try {
    return await verifier.verify(authorization);
  } catch (cause) {
    if (cause instanceof ReviewUnavailableError) onRefused(cause.code);
    throw cause;
  }
}

function reasonOf(code: string | undefined): RefusalReason {
  if (code === "ERR_SSL_HTTP_REQUEST") return "not_tls";
  if (code === "ERR_SSL_UNSUPPORTED_PROTOCOL" || code === "ERR_SSL_WRONG_VERSION_NUMBER") return "tls_version";
  return "tls_failed";
}
