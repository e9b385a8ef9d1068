/**
 * Carries the push protocol in a cluster: TLS to one of the operators behind a headless Service, with a token that
 * Kubernetes renews (docs/design/configuration.md 3).
 *
 * Stream and posts go to one address: another replica would not know the stream. The next stream tries another one, as
 * the cause that ended the last may still be present there. Token and bundle are read anew for every request, so that
 * both may be renewed while a stream is open; nothing is sent to a server that the bundle does not vouch for.
 */
import { lookup } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, RequestOptions } from "node:http";
import { Agent, request } from "node:https";
import type { UpMessage } from "#proxy/snapshot/push/messages";
import { openPushStream, type PushTransport, postJson } from "./push-transport.ts";

export interface TlsTransportOptions {
  /** `https://HOST:PORT`; the host may have several addresses. */
  readonly url: string;
  /** Name that the operator's certificate must bear; that of the URL by default. */
  readonly serverName?: string | undefined;
  /** PEM of the authorities to trust. */
  readonly caFile: string;
  readonly tokenFile: string;
  /** Longest wait for the operator's reply to a request, not for the stream. */
  readonly replyTimeoutMs: number;
  /** The addresses of a host; the system's resolver by default. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

/** @throws TypeError when the URL is none */
export function tlsTransport(options: TlsTransportOptions): PushTransport {
  const { hostname, port } = new URL(options.url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const resolve = options.resolve ?? resolveAll;
  const random = options.random ?? Math.random;
  let last: string | undefined;
  return {
    async open(hello) {
      const address = pick(await within(resolve(host), options.replyTimeoutMs), last, random);
      last = address;
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const post = async (path: string, message: object, by: Agent | false): Promise<IncomingMessage> => {
        const { ca, token } = await readCredentials(options);
        const where: RequestOptions & { readonly [name: string]: unknown } = {
          host: address,
          port: port === "" ? 443 : Number(port),
          path,
          agent: by,
          timeout: options.replyTimeoutMs,
          servername: options.serverName ?? host,
          ca,
          minVersion: "TLSv1.3",
        };
        return postJson(request, where, message, { authorization: `Bearer ${token}` });
      };
      // Reading the files takes turns of its own: without the chain a later message could overtake.
      let before: Promise<unknown> = Promise.resolve();
      const connection = {
        postHello: (path: string, message: object) => post(path, message, false),
        postMessage(path: string, message: UpMessage) {
          const sent = before.then(() => post(path, message, agent));
          before = sent.catch(() => undefined);
          return sent;
        },
        close: () => agent.destroy(),
      };
      return openPushStream(connection, hello);
    },
  };
}

/** One of the addresses at random, but not the last one again where there are others. */
export function pick(addresses: readonly string[], last: string | undefined, random: () => number): string {
  const others = addresses.filter((address) => address !== last);
  const candidates = others.length > 0 ? others : addresses;
  const chosen = candidates[Math.floor(random() * candidates.length)];
  if (chosen === undefined) throw new Error("the operator's name has no address");
  return chosen;
}

async function readCredentials({ caFile, tokenFile }: TlsTransportOptions): Promise<{ ca: string; token: string }> {
  const [ca, token] = await Promise.all([readFile(caFile, "utf8"), readFile(tokenFile, "utf8")]);
  // An empty list of authorities would mean those of the operating system.
  if (!ca.includes("-----BEGIN CERTIFICATE-----")) throw new Error("the file of authorities holds no certificate");
  return { ca, token: token.trim() };
}

async function resolveAll(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

async function within<Result>(promise: Promise<Result>, timeoutMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the operator's name was not resolved in time")), timeoutMs);
    timer.unref();
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
