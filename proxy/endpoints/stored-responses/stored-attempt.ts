/**
 * Requests a stored response from the provider that keeps it, at the channel and credential that made it.
 *
 * The path is the channel's own followed by a checked id; nothing else of the client's goes upstream.
 */

import type { Attempted, CallUpstream } from "#proxy/dispatch/dispatch-call";
import { GatewayError } from "#proxy/errors";
import { classifyErrorReply } from "#proxy/formats/classify-error";
import { toClientError } from "#proxy/formats/client-error";
import type { UpstreamError } from "#proxy/formats/format";
import { ClientGoneError } from "#proxy/http/read-body";
import { headerValues, type RawHeaders, toHeaderObject } from "#proxy/http1/wire/header-values";
import { isObject, parseJson } from "#proxy/json/json-value";
import type { ProxyLimits } from "#proxy/limits";
import { failedByError } from "#proxy/route/failover";
import type { StopReason } from "#proxy/upstream/attempt-outcome";
import { errorOfFailure, errorOfInvalidReply, errorOfStop } from "#proxy/upstream/describe-outcome";
import type { HeldReply } from "#proxy/upstream/reply/held-reply";
import { buildPlainRequest, type UpstreamTarget } from "#proxy/upstream/request/build-upstream-request";
import { secretsOf } from "#proxy/upstream/request/request-headers";
import { type PathOwner, upstreamPath } from "#proxy/upstream/request/upstream-path";
import {
  UpstreamExchange,
  type UpstreamFailure,
  type UpstreamListener,
  type UpstreamRequest,
} from "#proxy/upstream/upstream-exchange";

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
  readonly upstream: CallUpstream;
  readonly limits: ProxyLimits;
  readonly requestId: string;
  /** Public name of the model that made it. */
  readonly model: string;
  /** The same as its provider knows it. */
  readonly upstreamModel: string;
  /** Counts the bytes of the reply that wait here; its owner releases them when the client has them. */
  readonly held: HeldReply;
}

/** The request for a question. */
export function storedRequest(
  question: StoredQuestion,
  target: Pick<UpstreamTarget, "channel" | "credential" | "route">,
  limits: ProxyLimits,
): UpstreamRequest {
  const method = question.action === "delete" ? "DELETE" : "GET";
  return buildPlainRequest(method, pathOf(question, target), target, limits);
}

/** One attempt to get the provider's reply. */
export class StoredAttempt {
  readonly #question: StoredQuestion;
  readonly #target: Pick<UpstreamTarget, "channel" | "credential">;
  readonly #context: StoredContext;
  readonly #reply: StoredReply;
  #exchange: UpstreamExchange | undefined;

  constructor(
    question: StoredQuestion,
    target: Pick<UpstreamTarget, "channel" | "credential">,
    context: StoredContext,
  ) {
    this.#question = question;
    this.#target = target;
    this.#context = context;
    this.#reply = new StoredReply(context.limits.replyBodyBytesMax, context.held, () => this.#exchange?.abort());
  }

  stop(reason: StopReason): void {
    this.#exchange?.abort();
    this.#reply.stop(reason);
  }

  /**
   * @returns the provider's reply, a JSON object, or the error that it reported
   * @throws GatewayError for any other reply, or none
   */
  async run(request: UpstreamRequest): Promise<Attempted<Buffer>> {
    if (!this.#reply.isOver) {
      this.#exchange = new UpstreamExchange(request.timeouts, this.#reply);
      this.#exchange.start(this.#context.upstream, request);
    }
    const { status, headers, body } = await this.#reply.whole;
    if (status >= 200 && status < 300) {
      if (isObject(parseJson(body.toString("utf8")))) return { value: body };
      throw errorOfInvalidReply("the reply for a stored response is not a JSON object");
    }
    const error = classifyErrorReply(status, toHeaderObject(headers), body, Date.now());
    return { failed: { ...failedByError(error), error: this.#toClientError(error) } };
  }

  #toClientError(error: UpstreamError): GatewayError {
    const { model, upstreamModel, requestId } = this.#context;
    if (error.status === 404) {
      const message = `Response with id '${this.#question.id}' not found.`;
      return new GatewayError("unknown_url", message, { cause: error });
    }
    const { channel, credential } = this.#target;
    return toClientError(error, {
      publicModel: model,
      upstreamModel,
      requestId,
      channelSecrets: secretsOf(channel, credential),
    });
  }
}

/** The id comes before the query of the channel's own template. */
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

/** Collects one reply, within a bound. */
class StoredReply implements UpstreamListener {
  readonly whole: Promise<Whole>;
  readonly #bytesMax: number;
  readonly #held: HeldReply;
  readonly #abort: () => void;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #status = 0;
  #headers: RawHeaders = [];
  #isOver = false;
  #resolve: (whole: Whole) => void = () => {};
  #reject: (error: Error) => void = () => {};

  /** @param abort closes the upstream of a reply that is refused */
  constructor(bytesMax: number, held: HeldReply, abort: () => void) {
    this.#bytesMax = bytesMax;
    this.#held = held;
    this.#abort = abort;
    this.whole = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Whole, failed or stopped. */
  get isOver(): boolean {
    return this.#isOver;
  }

  onHead(status: number, headers: RawHeaders): void {
    this.#status = status;
    this.#headers = headers;
    const encoding = headerValues(headers, "content-encoding").join(",");
    if (encoding === "" || encoding === "identity") return;
    this.#refuse(errorOfInvalidReply("the reply for a stored response has a content-encoding that was not requested"));
  }

  onData(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#bytesMax) {
      this.#refuse(errorOfInvalidReply(`the reply for a stored response exceeds ${this.#bytesMax} bytes`));
    } else if (!this.#held.hold(this.#bytes)) {
      this.#refuse(errorOfStop("overloaded"));
    } else {
      // Copied: the memory is used again.
      this.#chunks.push(Buffer.from(chunk));
    }
  }

  onEnd(): void {
    this.#isOver = true;
    this.#resolve({ status: this.#status, headers: this.#headers, body: Buffer.concat(this.#chunks) });
  }

  onFailure(failure: UpstreamFailure): void {
    this.#end(errorOfFailure(failure));
  }

  stop(reason: StopReason): void {
    const hasLeft = reason === "client-left" || reason === "slow-reader";
    this.#end(hasLeft ? new ClientGoneError() : errorOfStop(reason));
  }

  #refuse(error: GatewayError): void {
    this.#abort();
    this.#end(error);
  }

  #end(error: Error): void {
    this.#isOver = true;
    this.#reject(error);
  }
}
