/**
 * Tracks which connected proxies lack which capabilities, here and at other operators
 * (docs/design/configuration.md 3.3). The publisher holds versions back by it, and the status names the old proxies.
 *
 * A proxy whose stream ended may only have been cut off and may reconnect in a moment. It therefore still counts for
 * some time, until it reconnects with more capabilities, or until the cluster reports that its pod is gone.
 */

import type { ExpectedProxies } from "#operator/kubernetes/installation/expected-proxies";
import { systemTimers, type Timers } from "#proxy/snapshot/push/timers";
import type { ProxyConnection } from "./connection.ts";
import type { PeerSummaries } from "./replicas/peer-summaries.ts";
import type { OldProxy } from "./replicas/summary.ts";

export interface OldProxiesOptions {
  /** The streams open here. */
  readonly connections: () => Iterable<Pick<ProxyConnection, "hello" | "lacks">>;
  readonly peers?: PeerSummaries | undefined;
  readonly expected?: ExpectedProxies | undefined;
  readonly timers?: Timers | undefined;
  /** How long a proxy still counts after its stream has ended. */
  readonly graceMs: number;
  /** Called when a proxy stops counting by time alone. */
  readonly onChange: () => void;
}

interface Departed {
  readonly lacks: readonly string[];
  readonly cancel: () => void;
}

export class OldProxies {
  readonly #options: OldProxiesOptions;
  readonly #timers: Timers;
  readonly #departed = new Map<string, Departed>();
  /** Capabilities that proxies of other operators lack, as the leader reported last. */
  #lackedElsewhere: readonly string[] = [];
  #cancelForgetting = () => {};

  constructor(options: OldProxiesOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
  }

  joined(proxy: string): void {
    this.#departed.get(proxy)?.cancel();
    this.#departed.delete(proxy);
  }

  left({ hello: { proxy }, lacks }: Pick<ProxyConnection, "hello" | "lacks">): void {
    if (lacks.length === 0 || this.#connected().has(proxy)) return;
    this.joined(proxy);
    const cancel = this.#timers.after(this.#options.graceMs, () => {
      this.#departed.delete(proxy);
      this.#options.onChange();
    });
    this.#departed.set(proxy, { lacks, cancel });
  }

  /** Sets the capabilities that proxies lack at any operator, as the leader reports them. */
  setLackedElsewhere(lacked: readonly string[]): void {
    this.#cancelForgetting();
    this.#lackedElsewhere = lacked;
  }

  /** This operator became leader: the previous leader's report counts until followers have had the time to report. */
  forgetIn(delayMs: number): void {
    this.#cancelForgetting();
    this.#cancelForgetting = this.#timers.after(delayMs, () => {
      this.setLackedElsewhere([]);
      this.#options.onChange();
    });
  }

  /** Old proxies of this operator. */
  own(): OldProxy[] {
    const old: OldProxy[] = [];
    for (const { hello, lacks } of this.#options.connections()) {
      if (lacks.length > 0) old.push({ proxy: hello.proxy, lacks });
    }
    const present = this.#options.expected?.present;
    for (const [proxy, { lacks }] of this.#departed) {
      if (present === undefined || present.has(proxy)) old.push({ proxy, lacks });
    }
    return old;
  }

  /** Old proxies of all operators that this one knows of. */
  all(): OldProxy[] {
    const old = this.own();
    const known = new Set([...this.#connected(), ...old.map(({ proxy }) => proxy)]);
    for (const peer of this.#options.peers?.old() ?? []) {
      if (known.has(peer.proxy)) continue;
      known.add(peer.proxy);
      old.push(peer);
    }
    return old;
  }

  /** Capabilities that some proxy lacks, as far as this operator knows; the leader knows of all. */
  lacked(): ReadonlySet<string> {
    return new Set([...this.all().flatMap(({ lacks }) => lacks), ...this.#lackedElsewhere]);
  }

  close(): void {
    this.#cancelForgetting();
    for (const { cancel } of this.#departed.values()) cancel();
    this.#departed.clear();
  }

  #connected(): Set<string> {
    return new Set(Array.from(this.#options.connections(), ({ hello }) => hello.proxy));
  }
}
