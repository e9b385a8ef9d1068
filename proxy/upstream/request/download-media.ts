/**
 * Downloads an image or document that a client named by URL, for an upstream that takes only bytes
 * (docs/design/translation.md 4.4).
 *
 * A client chooses the URL, so nothing but the public internet is reachable, whatever the fleet allows its own
 * channels. This holds after redirects too, and the address that was checked is the one connected to
 * (`guarded-connector.ts`). Downloads are bounded in time, size, redirects and number for the whole process; no header
 * of the client or of a channel goes out.
 */
import { Agent, type Dispatcher, request } from "undici";
import { GatewayError } from "#proxy/errors";
import { EgressPolicy } from "#proxy/snapshot/egress-policy";
import { guardedConnector } from "#proxy/upstream/pools/guarded-connector";

export interface DownloadLimits {
  readonly bytesMax: number;
  readonly timeoutMs: number;
  readonly redirectsMax: number;
  /** Of all requests together; more are refused, not queued: their time would run out in the queue. */
  readonly atOnceMax: number;
}

export const downloadDefaults: DownloadLimits = {
  bytesMax: 20 * 1024 * 1024,
  timeoutMs: 10_000,
  redirectsMax: 3,
  atOnceMax: 256,
};

/** What a caller asks beyond the file. */
export interface DownloadTerms {
  /** Aborted when nobody waits any more. */
  readonly signal: AbortSignal;
  /** Told of bytes as they arrive. @throws GatewayError when no more may be held */
  readonly hold: (bytes: number) => void;
}

export interface DownloadedMedia {
  readonly base64: string;
  /** As the server says, lower case, without parameters; undefined when it does not. */
  readonly mime: string | undefined;
}

export class MediaDownloads {
  readonly #limits: DownloadLimits;
  readonly #dispatcher: Agent;
  #running = 0;

  /** @param allowCIDRs private addresses that may be reached: none but in tests */
  constructor(limits: DownloadLimits = downloadDefaults, allowCIDRs: readonly string[] = []) {
    this.#limits = limits;
    const connect = guardedConnector(new EgressPolicy(allowCIDRs), Math.min(2_000, limits.timeoutMs), {});
    this.#dispatcher = new Agent({ connect, pipelining: 1, maxHeaderSize: 16 * 1024 });
  }

  /**
   * @param where path of the part in the client's body
   * @throws GatewayError naming the part, for whatever goes wrong: the client chose the address; `overloaded` where the
   *   gateway may not fetch or hold more
   */
  async fetch(url: string, where: string, terms?: DownloadTerms): Promise<DownloadedMedia> {
    if (this.#running >= this.#limits.atOnceMax) {
      throw new GatewayError(
        "overloaded",
        "The gateway is overloaded: it is at its limit of file downloads. Try again.",
      );
    }
    this.#running += 1;
    const timeout = AbortSignal.timeout(this.#limits.timeoutMs);
    const signal = terms === undefined ? timeout : AbortSignal.any([timeout, terms.signal]);
    try {
      return await this.#follow(url, signal, terms?.hold);
    } catch (cause) {
      if (cause instanceof GatewayError) throw cause;
      // The reason is for the log: a client must not learn what is inside the network.
      const message = `The file at '${where}' could not be downloaded. Send its content as a data URL instead.`;
      throw new GatewayError("invalid_value", message, { param: where, cause });
    } finally {
      this.#running -= 1;
    }
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  async #follow(first: string, signal: AbortSignal, hold: DownloadTerms["hold"] | undefined): Promise<DownloadedMedia> {
    let url = new URL(first);
    for (let redirects = 0; redirects <= this.#limits.redirectsMax; redirects += 1) {
      if (url.protocol !== "https:" && url.protocol !== "http:") throw new Error("an address of another scheme");
      const reply = await request(url, {
        dispatcher: this.#dispatcher,
        signal,
        headers: { accept: "image/*, application/pdf, text/plain, */*", "user-agent": "Mozilla/5.0 (compatible)" },
      });
      const location = reply.headers["location"];
      if (reply.statusCode < 300 || reply.statusCode >= 400 || typeof location !== "string") {
        return await this.#readFile(reply, hold);
      }
      await reply.body.dump();
      url = new URL(location, url);
    }
    throw new Error("too many redirects");
  }

  async #readFile(reply: Dispatcher.ResponseData, hold: DownloadTerms["hold"] | undefined): Promise<DownloadedMedia> {
    if (reply.statusCode !== 200) {
      await reply.body.dump();
      throw new Error(`the server replied with status ${reply.statusCode}`);
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of reply.body) {
      const piece = Buffer.from(chunk);
      bytes += piece.length;
      if (bytes > this.#limits.bytesMax) throw new Error(`more than ${this.#limits.bytesMax} bytes`);
      hold?.(piece.length);
      chunks.push(piece);
    }
    const type = reply.headers["content-type"];
    const mime = typeof type === "string" ? type.split(";")[0]?.trim().toLowerCase() : undefined;
    return { base64: Buffer.concat(chunks).toString("base64"), mime: mime === "" ? undefined : mime };
  }
}
