/**
 * The endpoint of the leader for followers: it accepts summaries and proxies' reports. It is mounted in the push app
 * behind the check that the peer is an operator.
 */
import express, { Router } from "express";
import type { Leadership } from "#operator/kubernetes/leader-election/leadership";
import type { ProxyIdentity } from "#operator/push/push-options";
import type { Report } from "#proxy/snapshot/push/messages";
import { MessageError, parseUpMessage } from "#proxy/snapshot/push/parse-message";
import type { PeerSummaries } from "./peer-summaries.ts";
import { readSummary, SummaryError, writeLacked } from "./summary.ts";

export interface PeerEndpointOptions {
  readonly leadership: Leadership;
  readonly summaries: PeerSummaries;
  readonly onReport: (proxy: string, report: Report) => void;
  /** Capabilities that some proxy of the fleet lacks; the response to each summary names them. */
  readonly lacked: () => ReadonlySet<string>;
  readonly onAccepted?: (kind: "summary" | "report") => void;
}

/** 500 proxies are some 30 KiB, a group of them 3 KiB, and 1,000 rejects a few hundred. */
const summaryBytesMax = 4 * 1024 * 1024;

export function createPeerEndpoint(options: PeerEndpointOptions): Router {
  const { leadership, summaries, onReport, lacked, onAccepted } = options;
  const router = Router({ strict: true, caseSensitive: true });
  router.use((_request, response, next) => {
    if (leadership.isLeader()) next();
    else response.status(409).json({ error: "this operator does not lead" });
  });
  router.use(express.json({ limit: summaryBytesMax, strict: true }));
  router.post("/summary", (request, response) => {
    const { pod = "" }: ProxyIdentity = response.locals["identity"];
    try {
      summaries.accept(pod, readSummary(request.body));
    } catch (error) {
      if (!(error instanceof SummaryError)) throw error;
      throw new MessageError(error.message);
    }
    onAccepted?.("summary");
    const lacking = lacked();
    // A follower of an older version, whose summary names no old proxies, reads no response and accepts only 204.
    if (lacking.size === 0 || !Object.hasOwn(request.body, "old")) response.status(204).end();
    else response.status(200).type("json").send(writeLacked(lacking));
  });
  router.post("/reports/:proxy", (request, response) => {
    const report = parseUpMessage(request.body);
    if (report.type !== "report") throw new MessageError("must be a report");
    onReport(request.params.proxy, report);
    onAccepted?.("report");
    response.status(204).end();
  });
  return router;
}
