/**
 * Defines where an attempt gets its reply from: one request to an upstream, or several requests whose bodies make one
 * reply (`continuing-upstream.ts`).
 */
import type { SentRequest, UpstreamHandler } from "#proxy/http1/client/upstream";

export interface ReplySource {
  /** As `Upstream.send`. */
  send(request: SentRequest, handler: ReplyHandler): void;
}

/** Also handles the deadlines of a reply that takes several requests. */
export interface ReplyHandler extends UpstreamHandler {
  /** Bytes came that are held back: the upstream lives. */
  progress(): void;
  /** A further request is sent, whose head is awaited as the first one's was. */
  awaitHead(): void;
  /** That head is there. */
  headCame(): void;
}
