/**
 * Posts to the leader over TLS, with the same authority, name and kind of token as proxies use. It sends one post at a
 * time, so that a summary never arrives before the one that it replaces.
 */
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { protocolVersion } from "#proxy/snapshot/push/messages";

/** A response holds the names of some capabilities. */
const responseBytesMax = 64 * 1024;

export interface LeaderClientOptions {
  /** PEM of the authorities; undefined while there is none. */
  readonly bundle: () => string | undefined;
  /** Name in every operator's certificate. */
  readonly serverName: string;
  /** This operator's own token with the audience of the push endpoint; read anew for every post. */
  readonly tokenFile: string;
  readonly timeoutMs?: number;
}

export interface LeaderClient {
  /**
   * @param address `address:port` of the leader
   * @returns its response; undefined when that is empty
   * @throws when the leader does not accept the post, or its response is not JSON
   */
  post(address: string, path: string, body: string): Promise<unknown>;
  close(): void;
}

export function leaderClient({ bundle, serverName, tokenFile, timeoutMs = 5_000 }: LeaderClientOptions): LeaderClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let before: Promise<unknown> = Promise.resolve();
  const postNow = async (address: string, path: string, body: string) => {
    const ca = bundle();
    if (ca === undefined) throw new Error("the operator has no certificate authority yet");
    const token = (await readFile(tokenFile, "utf8")).trim();
    const { hostname, port } = new URL(`https://${address}`);
    const payload = Buffer.from(body);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const outgoing = request({
      host: hostname.replace(/^\[|\]$/g, ""),
      port: port === "" ? 443 : Number(port),
      method: "POST",
      path: `/peers/v${protocolVersion}${path}`,
      agent,
      ca,
      servername: serverName,
      minVersion: "TLSv1.3",
      timeout: timeoutMs,
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "content-length": payload.length,
      },
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("the leader did not respond in time")));
    outgoing.on("error", reject);
    outgoing.on("response", resolve);
    outgoing.end(payload);
    const response = await promise;
    const text = await readText(response);
    const { statusCode } = response;
    if (statusCode !== 200 && statusCode !== 204) throw new Error(`the leader responded with status ${statusCode}`);
    return statusCode === 204 ? undefined : JSON.parse(text);
  };
  return {
    post(address, path, body) {
      const sent = before.then(() => postNow(address, path, body));
      before = sent.catch(() => undefined);
      return sent;
    },
    close: () => agent.destroy(),
  };
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = "";
  response.setEncoding("utf8");
  for await (const chunk of response) {
    text += chunk;
    if (text.length > responseBytesMax) throw new Error("the leader's response is too long");
  }
  return text;
}
