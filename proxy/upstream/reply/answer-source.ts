/**
 * Where an attempt gets its answer: an upstream, of one request, or several requests whose bodies make one answer
 * (`continuing-upstream.ts`).
 */
import type { SentRequest, UpstreamHandler } from "#proxy/http1/client/upstream";

export interface AnswerSource {
  /** As `Upstream.send`. */
  send(request: SentRequest, handler: AnswerHandler): void;
}

/** Also hears what several requests for one answer make of its deadlines. */
export interface AnswerHandler extends UpstreamHandler {
  /** Bytes came that are held back: the upstream lives. */
  progress(): void;
  /** A further request is sent, whose head is awaited as the first one's was. */
  awaitHead(): void;
  /** That head is there. */
  headCame(): void;
}
