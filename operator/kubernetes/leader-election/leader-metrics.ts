/** Metrics of leader election: the Lease shows who leads, these show whether this operator does. */
import { Gauge, type Registry } from "prom-client";
import type { LeaseElector } from "./lease-elector.ts";

export function registerLeaderMetrics(registry: Registry, leadership: LeaseElector): void {
  const registers = [registry];
  gauge("tollgate_leader", "1 where this operator holds the Lease and writes.", () => (leadership.isLeader() ? 1 : 0));
  gauge("tollgate_leader_known", "1 where this operator knows who leads.", () =>
    leadership.leaderAddress() === undefined ? 0 : 1,
  );
  gauge("tollgate_leader_transitions", "How often the Lease passed to another holder.", () => leadership.transitions);

  function gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }
}
