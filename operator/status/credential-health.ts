/**
 * Tracks credentials of channels that their providers refuse, as proxies report them. `Healthy` comes from it.
 *
 * A proxy repeats all that it knows in every report, every few seconds while there is anything to report. A refusal
 * that is not repeated for a while no longer holds: it was mended, or the proxy is gone. It is not dropped at once,
 * because a provider that refuses some calls and accepts others would have status written all the time. One proxy's
 * report is enough, because all send the same secret.
 */
import type { EjectedCredential, Report } from "#proxy/snapshot/push/messages";

/** A proxy may need half a minute to find that its operator is gone, and tells the next one within some seconds. */
export const forgottenAfterMs = 40_000;

/** The refused credentials of one channel, by name. */
export interface ChannelHealth {
  readonly ejected: readonly string[];
  /** Those of them that calls still use, with the secret they had before. */
  readonly formerInUse: readonly string[];
}

interface Told {
  readonly credentials: readonly EjectedCredential[];
  readonly untilMs: number;
}

export class CredentialHealth {
  readonly #now: () => number;
  /** By proxy and channel. */
  readonly #byProxy = new Map<string, Map<string, Told>>();
  /** When this operator began to listen. */
  #sinceMs: number;

  /** @param now monotonic, milliseconds */
  constructor(now: () => number) {
    this.#now = now;
    this.#sinceMs = now();
  }

  /** False until every proxy has had the time to report. */
  get isComplete(): boolean {
    return this.#now() - this.#sinceMs >= forgottenAfterMs;
  }

  /** Accepts a proxy's report. @returns the channels, by `resultId`, whose refusals changed */
  acceptReport(proxy: string, { ejected }: Pick<Report, "ejected">): string[] {
    if (ejected.length === 0) return [];
    const told = this.#byProxy.get(proxy) ?? new Map<string, Told>();
    this.#byProxy.set(proxy, told);
    const untilMs = this.#now() + forgottenAfterMs;
    const changed: string[] = [];
    for (const [id, credentials] of Map.groupBy(ejected, ({ channel }) => `channel/${channel}`)) {
      if (textOf(credentials) !== textOf(told.get(id)?.credentials)) changed.push(id);
      told.set(id, { credentials, untilMs });
    }
    return changed;
  }

  /** Drops refusals that were not repeated for a while. @returns their channels */
  due(): string[] {
    const nowMs = this.#now();
    const ids: string[] = [];
    for (const [proxy, told] of this.#byProxy) {
      for (const [id, { untilMs }] of told) {
        if (untilMs > nowMs) continue;
        told.delete(id);
        ids.push(id);
      }
      if (told.size === 0) this.#byProxy.delete(proxy);
    }
    return ids;
  }

  /** @returns undefined when no refusal of the channel is known */
  healthOf(id: string): ChannelHealth | undefined {
    const ejected = new Set<string>();
    const refused = new Set<string>();
    for (const told of this.#byProxy.values()) {
      for (const { credential, reason } of told.get(id)?.credentials ?? []) {
        ejected.add(credential);
        if (reason !== "FormerInUse") refused.add(credential);
      }
    }
    if (ejected.size === 0) return undefined;
    const names = [...ejected].sort();
    return { ejected: names, formerInUse: names.filter((name) => !refused.has(name)) };
  }

  clear(): void {
    this.#byProxy.clear();
    this.restartWait();
  }

  /** Starts the time over in which every proxy reports. */
  restartWait(): void {
    this.#sinceMs = this.#now();
  }
}

function textOf(credentials: readonly EjectedCredential[] | undefined): string {
  return (credentials ?? [])
    .map(({ credential, reason }) => `${credential} ${reason}`)
    .sort()
    .join("\n");
}
