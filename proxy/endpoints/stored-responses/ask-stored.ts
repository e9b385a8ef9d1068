/**
 * Asks a provider for a response that it keeps: one request to the channel and credential that made it, no failover.
 *
 * The path is the channel's own with a checked id behind it; nothing else of the client's goes upstream.
 */
import { GatewayError } from "#proxy/errors";
import { classifyErrorReply } from "#proxy/formats/classify-error";
import { toClientError } from "#proxy/formats/client-error";
import { ClientGoneError } from "#proxy/http/read-body";
import type { Upstream } from "#proxy/http1/client/upstream";
import { headerValues, type RawHeaders, toHeaderObject } from "#proxy/http1/wire/header-values";
import { isObject, parseJson } from "#proxy/json/json-value";
import type { ProxyLimits } from "#proxy/limits";
import type { StopReason } from "#proxy/upstream/attempt-outcome";
import { errorOfFailure, errorOfInvalidReply, errorOfStop } from "#proxy/upstream/describe-outcome";
import type { HeldAnswer } from "#proxy/upstream/reply/held-answer";
import { buildPlainRequest, type UpstreamTarget } from "#proxy/upstream/request/build-upstream-request";
import { secretsOf } from "#proxy/upstream/request/upstream-headers";
import { type PathOwner, upstreamPath } from "#proxy/upstream/request/upstream-path";
import { UpstreamExchange, type UpstreamFailure, type UpstreamListener } from "#proxy/upstream/upstream-exchange";

export interface StoredQuestion {
  readonly action: "read" | "delete" | "list-input";
  /** Letters, digits, `_` and `-` only. */
  readonly id: string;
  /** Template of the format on the channel. */
  readonly path: string;
  /** Checked members of the query, or empty. */
  readonly query: string;
}

export interface StoredContext {
  readonly upstream: Upstream;
  readonly limits: ProxyLimits;
  readonly requestId: string;
  /** Public name of the model that made it. */
  readonly model: string;
  /** The same as its provider knows it. */
  readonly upstreamModel: string;
  /** Counts what of the answer waits here; whoever made it lets go when the client has it. */
  readonly held: HeldAnswer;
  /** Given what ends the question from outside and closes the upstream. */
  readonly onStoppable: (stop: (reason: StopReason) => void) => void;
}

/**
 * @returns the provider's answer, a JSON object
 * @throws GatewayError for whatever else it answered, or nothing
 */
export async function askStored(
  question: StoredQuestion,
  target: Pick<UpstreamTarget, "channel" | "credential" | "route">,
  context: StoredContext,
): Promise<Buffer> {
  const method = question.action === "delete" ? "DELETE" : "GET";
  const request = buildPlainRequest(method, pathOf(question, target), target, context.limits);
  const answer = new StoredAnswer(context.limits.replyBodyBytesMax, context.held);
  const exchange = new UpstreamExchange(request.timeouts, answer);
  answer.onTooLarge = () => exchange.abort();
  exchange.start(context.upstream, request);
  context.onStoppable((reason) => {
    exchange.abort();
    answer.stop(reason);
  });
  const { status, headers, body } = await answer.whole;
  if (status >= 200 && status < 300) {
    if (isObject(parseJson(body.toString("utf8")))) return body;
    throw errorOfInvalidReply("the answer for a kept response is not a JSON object");
  }
  const error = classifyErrorReply(status, toHeaderObject(headers), body, Date.now());
  if (status === 404)
    throw new GatewayError("unknown_url", `Response with id '${question.id}' not found.`, { cause: error });
  throw toClientError(error, {
    publicModel: context.model,
    upstreamModel: context.upstreamModel,
    requestId: context.requestId,
    channelSecrets: secretsOf(target.channel, target.credential),
  });
}

/** The id stands before what the channel's own template asks by query. */
function pathOf({ action, id, path, query }: StoredQuestion, owner: PathOwner): string {
  const mark = path.indexOf("?");
  const [base, own] = mark < 0 ? [path, ""] : [path.slice(0, mark), path.slice(mark)];
  const isList = action === "list-input";
  return upstreamPath(owner, `${base}/${id}${isList ? "/input_items" : ""}${own}`, "", "", isList ? query : "");
}

interface Whole {
  readonly status: number;
  readonly headers: RawHeaders;
  readonly body: Buffer;
}

/** Collects one answer, within a bound. */
class StoredAnswer implements UpstreamListener {
  readonly whole: Promise<Whole>;
  onTooLarge: () => void = () => {};
  readonly #bytesMax: number;
  readonly #held: HeldAnswer;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #status = 0;
  #headers: RawHeaders = [];
  #resolve: (whole: Whole) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor(bytesMax: number, held: HeldAnswer) {
    this.#bytesMax = bytesMax;
    this.#held = held;
    this.whole = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  onHead(status: number, headers: RawHeaders): void {
    this.#status = status;
    this.#headers = headers;
    const encoding = headerValues(headers, "content-encoding").join(",");
    if (encoding === "" || encoding === "identity") return;
    this.onTooLarge();
    this.#reject(errorOfInvalidReply("the answer for a kept response is encoded though that was not asked for"));
  }

  onData(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#bytesMax) {
      this.onTooLarge();
      this.#reject(errorOfInvalidReply(`the answer for a kept response exceeds ${this.#bytesMax} bytes`));
      return;
    }
    if (!this.#held.hold(this.#bytes)) {
      this.onTooLarge();
      this.#reject(errorOfStop("overloaded"));
      return;
    }
    // Copied: the memory is used again.
    this.#chunks.push(Buffer.from(chunk));
  }

  onEnd(): void {
    this.#resolve({ status: this.#status, headers: this.#headers, body: Buffer.concat(this.#chunks) });
  }

  onFailure(failure: UpstreamFailure): void {
    this.#reject(errorOfFailure(failure));
  }

  stop(reason: StopReason): void {
    const hasLeft = reason === "client-left" || reason === "slow-reader";
    this.#reject(hasLeft ? new ClientGoneError() : errorOfStop(reason));
  }
}
