/**
 * Fetches an image or document that a client named by its address, for an upstream that takes only bytes
 * (`protocols/translation.md` section 4.4).
 *
 * A client chooses the address, so nothing but the public internet is reachable, whatever the fleet allows its own
 * channels: also after redirects, with the address that was judged (`guarded-connector.ts`). Bounded in time, size and
 * redirects; no header of the client or of a channel goes out.
 */
import { Agent, type Dispatcher, request } from "undici";
import { GatewayError } from "../errors.ts";
import { EgressPolicy } from "../snapshot/egress-policy.ts";
import { guardedConnector } from "./guarded-connector.ts";

export interface DownloadLimits {
  readonly bytesMax: number;
  readonly timeoutMs: number;
  readonly redirectsMax: number;
}

export const downloadDefaults: DownloadLimits = { bytesMax: 20 * 1024 * 1024, timeoutMs: 10_000, redirectsMax: 3 };

export interface DownloadedMedia {
  readonly base64: string;
  /** As the server says, lower case, without parameters; undefined when it does not. */
  readonly mime: string | undefined;
}

export class MediaDownloads {
  readonly #limits: DownloadLimits;
  readonly #dispatcher: Agent;

  /** @param allowCIDRs private addresses that may be reached: none but in tests */
  constructor(limits: DownloadLimits = downloadDefaults, allowCIDRs: readonly string[] = []) {
    this.#limits = limits;
    const connect = guardedConnector(new EgressPolicy(allowCIDRs), Math.min(2_000, limits.timeoutMs), {});
    this.#dispatcher = new Agent({ connect, pipelining: 1, maxHeaderSize: 16 * 1024 });
  }

  /**
   * @param where path of the part in the client's body
   * @throws GatewayError naming the part, for whatever goes wrong: the client chose the address
   */
  async fetch(url: string, where: string): Promise<DownloadedMedia> {
    const signal = AbortSignal.timeout(this.#limits.timeoutMs);
    try {
      return await this.#follow(url, signal);
    } catch (cause) {
      // Why is for the log: a client must not learn what stands inside the network.
      const message = `The file at '${where}' could not be downloaded. Send its content as a data URL instead.`;
      throw new GatewayError("invalid_value", message, { param: where, cause });
    }
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  async #follow(first: string, signal: AbortSignal): Promise<DownloadedMedia> {
    let url = new URL(first);
    for (let redirects = 0; redirects <= this.#limits.redirectsMax; redirects += 1) {
      if (url.protocol !== "https:" && url.protocol !== "http:") throw new Error("an address of another scheme");
      const answer = await request(url, {
        dispatcher: this.#dispatcher,
        signal,
        headers: { accept: "image/*, application/pdf, text/plain, */*", "user-agent": "Mozilla/5.0 (compatible)" },
      });
      const location = answer.headers["location"];
      if (answer.statusCode < 300 || answer.statusCode >= 400 || typeof location !== "string") {
        return await this.#take(answer);
      }
      await answer.body.dump();
      url = new URL(location, url);
    }
    throw new Error("too many redirects");
  }

  async #take(answer: Dispatcher.ResponseData): Promise<DownloadedMedia> {
    if (answer.statusCode !== 200) {
      await answer.body.dump();
      throw new Error(`the server answered ${answer.statusCode}`);
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer.body) {
      const piece = Buffer.from(chunk);
      bytes += piece.length;
      if (bytes > this.#limits.bytesMax) throw new Error(`more than ${this.#limits.bytesMax} bytes`);
      chunks.push(piece);
    }
    const type = answer.headers["content-type"];
    const mime = typeof type === "string" ? type.split(";")[0]?.trim().toLowerCase() : undefined;
    return { base64: Buffer.concat(chunks).toString("base64"), mime: mime === "" ? undefined : mime };
  }
}
