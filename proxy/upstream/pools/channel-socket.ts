/**
 * Opens a connection of its own to a channel, for what cannot share one: a WebSocket takes it whole.
 *
 * The same rules hold as for pooled connections (`upstream-pool.ts`): the egress policy judges the address that is
 * connected to, the channel's TLS settings hold, and a channel with a `proxyURL` is reached by `CONNECT`, where the
 * policy judges the proxy.
 */
import { Socket } from "node:net";
import { buildConnector, Client } from "undici";
import type { EgressPolicy } from "#proxy/snapshot/egress-policy";
import type { Channel } from "#proxy/snapshot/types.gen";
import { guardedConnector } from "./guarded-connector.ts";

/** The TLS settings of a channel, as `tls.connect` names them. */
export function tlsOptions({ tls }: Pick<Channel, "tls">): {
  ca?: string;
  servername?: string;
  cert?: string;
  key?: string;
} {
  if (tls === undefined) return {};
  return {
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
    ...(tls.certificate === undefined ? {} : { cert: tls.certificate }),
    ...(tls.privateKey === undefined ? {} : { key: tls.privateKey }),
  };
}

/** All connections read into the same memory: what it holds has been dealt with before the next one reads. */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * @param connectMs longest for each step: the connect, and the tunnel through a proxy. 0: no limit
 * @param onRead gets what is read; the bytes are valid during the call only
 * @throws EgressRefusedError, ConnectTimeoutError, or the error of the connect
 */
export async function openChannelSocket(
  channel: Pick<Channel, "baseURL" | "proxyURL" | "tls">,
  policy: EgressPolicy,
  connectMs: number,
  onRead: (bytes: Buffer) => void,
): Promise<Socket> {
  const { hostname, host, protocol, port } = new URL(channel.baseURL);
  const to = { hostname: bare(hostname), host, protocol, port: port === "" ? defaultPort(protocol) : port };
  const onread = {
    buffer: readBuffer,
    callback: (bytes: number): boolean => {
      onRead(readBuffer.subarray(0, bytes));
      return true;
    },
  };
  const options = { ...tlsOptions(channel), onread };
  if (channel.proxyURL === undefined) return opened(guardedConnector(policy, connectMs, options), to);
  const tunnel = await openTunnel(new URL(channel.proxyURL), `${hostname}:${to.port}`, policy, connectMs);
  if (protocol !== "https:") return tunnel.on("data", onRead);
  const secure = buildConnector({ ...options, allowH2: false, timeout: connectMs });
  return opened(secure, { ...to, httpSocket: tunnel });
}

/** By `CONNECT` also to an upstream without TLS: else the proxy would read what is said and the credential. */
async function openTunnel(proxy: URL, authority: string, policy: EgressPolicy, connectMs: number): Promise<Socket> {
  const client = new Client(proxy.origin, {
    connect: guardedConnector(policy, connectMs, {}),
    headersTimeout: connectMs,
  });
  try {
    const { socket, statusCode } = await client.connect({ path: authority, headers: proxyHeaders(proxy, authority) });
    if (statusCode === 200 && socket instanceof Socket) return socket;
    socket.destroy();
    throw new Error(`the proxy answered CONNECT with ${statusCode}`);
  } finally {
    // The tunnel has left it by now; nothing else was asked of it.
    client.close().catch(() => {});
  }
}

function proxyHeaders({ username, password }: URL, host: string): Record<string, string> {
  if (username === "" && password === "") return { host };
  const secret = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { host, "proxy-authorization": `Basic ${Buffer.from(secret).toString("base64")}` };
}

function opened(connect: buildConnector.connector, to: buildConnector.Options): Promise<Socket> {
  return new Promise((resolve, reject) => {
    connect(to, (error, socket) => {
      if (error === null && socket !== null) resolve(socket);
      else reject(error ?? new Error("connect failed"));
    });
  });
}

function bare(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

function defaultPort(protocol: string): string {
  return protocol === "https:" ? "443" : "80";
}
