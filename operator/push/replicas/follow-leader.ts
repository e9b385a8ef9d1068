/**
 * The duty of a follower: it posts to the leader what its proxies acknowledged, soon after a change and regularly;
 * learns which capabilities proxies of other operators lack; and forwards reports of use.
 *
 * While this operator leads it posts nothing. After a failure everything is posted again, except reports, which may be
 * lost.
 */

import type { Leadership } from "#operator/kubernetes/leader-election/leadership";
import type { Fleet } from "#operator/push/fleet";
import type { Report } from "#proxy/snapshot/push/messages";
import { systemTimers, type Timers } from "#proxy/snapshot/push/timers";
import type { LeaderClient } from "./leader-client.ts";
import { readLacked, type Summary, writeSummary } from "./summary.ts";

export interface FollowLeaderOptions {
  readonly fleet: Pick<Fleet, "summary" | "onChange" | "setLackedElsewhere">;
  readonly leadership: Leadership;
  readonly client: LeaderClient;
  /** This run of this operator. */
  readonly operator: string;
  /** Between two summaries without a change; well below the silence after which the leader forgets. */
  readonly everyMs: number;
  readonly timers?: Timers;
  readonly onPosted?: (outcome: "taken" | "failed") => void;
}

export interface FollowingLeader {
  /** Forwards a proxy's report. @returns false when this operator leads and must accept it itself */
  report(proxy: string, report: Report): boolean;
  /** Posts a last summary without proxies. */
  close(): Promise<void>;
}

/** Acknowledgements come in bursts, one a proxy; a burst makes one summary. */
const gatherMs = 50;
const retryMs = 500;
/** The number of reports that may wait for the leader; more are dropped. */
const reportsMax = 500;

export function followLeader(options: FollowLeaderOptions): FollowingLeader {
  const { fleet, leadership, client, operator, everyMs, timers = systemTimers, onPosted } = options;
  const reports: { readonly proxy: string; readonly report: Report }[] = [];
  let told:
    | { readonly address: string; readonly text: string; readonly old: Summary["old"]; readonly at: number }
    | undefined;
  /** Capabilities that proxies lack, as the leader reported last. */
  let heard: readonly string[] = [];
  let isPosting = false;
  let isChanged = true;
  let isClosed = false;
  let dueAt = Infinity;
  let cancel = () => {};

  /** Schedules a summary, never later than the one already scheduled, or endless changes would delay it for ever. */
  const schedule = (delayMs: number) => {
    const at = timers.now() + delayMs;
    if (isClosed || isPosting || at >= dueAt) return;
    cancel();
    dueAt = at;
    cancel = timers.after(delayMs, () => {
      dueAt = Infinity;
      void tell();
    });
  };
  const tellSummary = async (address: string) => {
    isChanged = false;
    const summary = fleet.summary(operator);
    const text = writeSummary(summary);
    if (told?.address === address && told.text === text && timers.now() - told.at < everyMs) return;
    try {
      const response = await client.post(address, "/summary", text);
      // A new leader, perhaps this operator, knows better. An empty response: nothing is lacking.
      if (leadership.isLeader() || leadership.leaderAddress() !== address) return;
      const lacking = response === undefined ? [] : readLacked(response);
      // A new leader may not know all old proxies yet: its first response removes no capability.
      heard = told?.address === address ? lacking : [...new Set([...heard, ...lacking])];
      fleet.setLackedElsewhere(heard);
    } catch (cause) {
      // The next leader, or this one when it is back, needs a whole summary.
      told = undefined;
      isChanged = true;
      throw cause;
    }
    told = { address, text, old: summary.old, at: timers.now() };
    onPosted?.("taken");
  };
  const tell = async () => {
    const leaderAddress = leadership.leaderAddress();
    if (isClosed) return;
    if (leadership.isLeader() || leaderAddress === undefined) {
      schedule(everyMs);
      return;
    }
    isPosting = true;
    let waitMs = everyMs;
    try {
      await tellSummary(leaderAddress);
      for (let next = reports.shift(); next !== undefined; next = reports.shift()) {
        await client.post(leaderAddress, `/reports/${encodeURIComponent(next.proxy)}`, JSON.stringify(next.report));
      }
      if (isChanged || reports.length > 0) waitMs = gatherMs;
    } catch {
      // The leader is away or has changed: the Lease will tell, and only reports are lost.
      onPosted?.("failed");
      waitMs = retryMs;
    } finally {
      isPosting = false;
    }
    schedule(waitMs);
  };
  const lookSoon = () => {
    isChanged = true;
    if (!leadership.isLeader()) schedule(gatherMs);
  };
  const stops = [fleet.onChange(lookSoon), leadership.onChange(lookSoon)];
  schedule(gatherMs);

  return {
    report(proxy, report) {
      if (leadership.isLeader()) return false;
      if (reports.length >= reportsMax) reports.shift();
      reports.push({ proxy, report });
      schedule(gatherMs);
      return true;
    },
    async close() {
      isClosed = true;
      cancel();
      for (const stop of stops) stop();
      const address = leadership.leaderAddress();
      if (told === undefined || leadership.isLeader() || address === undefined) return;
      // Old proxies of this operator reconnect in a moment, at another one.
      const nothing = writeSummary({ operator, groups: [], joining: [], old: told.old });
      // Without it the leader notices a little later.
      await client.post(address, "/summary", nothing).catch(() => undefined);
    },
  };
}
