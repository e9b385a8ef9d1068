/**
 * Credentials of channels that their providers refuse, as the proxies report them: what `Healthy` is made of.
 *
 * A proxy tells all that it knows in every report, every few seconds while there is anything to tell: what it says no
 * more, or has not said for a while because it ended, holds no more. One proxy is enough, since all send the same secret.
 */
import type { EjectedCredential, Report } from "../../proxy/snapshot/push/messages.ts";

/** Three reports of a proxy may be lost. */
export const forgottenAfterMs = 20_000;

/** What is refused of one channel, by name of the credential. */
export interface ChannelHealth {
  readonly ejected: readonly string[];
  /** Those of them that calls go on with all the same, by the secret they had before. */
  readonly formerInUse: readonly string[];
}

interface Told {
  readonly byChannel: ReadonlyMap<string, readonly EjectedCredential[]>;
  readonly untilMs: number;
}

export class EjectedBook {
  readonly #now: () => number;
  readonly #byProxy = new Map<string, Told>();
  /** When this operator began to listen. */
  #sinceMs: number;

  /** @param now monotonic, milliseconds */
  constructor(now: () => number) {
    this.#now = now;
    this.#sinceMs = now();
  }

  /** False until every proxy has had the time to tell what it knows. */
  get isSettled(): boolean {
    return this.#now() - this.#sinceMs >= forgottenAfterMs;
  }

  /** Takes a proxy's report. @returns the channels, by `resultId`, of which it says something else than before */
  take(proxy: string, { ejected }: Pick<Report, "ejected">): string[] {
    const before = this.#byProxy.get(proxy)?.byChannel;
    if (ejected.length === 0) {
      this.#byProxy.delete(proxy);
      return [...(before?.keys() ?? [])];
    }
    const byChannel = Map.groupBy(ejected, ({ channel }) => `channel/${channel}`);
    this.#byProxy.set(proxy, { byChannel, untilMs: this.#now() + forgottenAfterMs });
    const channels = new Set([...byChannel.keys(), ...(before?.keys() ?? [])]);
    return [...channels].filter((id) => textOf(byChannel.get(id)) !== textOf(before?.get(id)));
  }

  /** Forgets proxies that are silent. @returns the channels they spoke of */
  due(): string[] {
    const nowMs = this.#now();
    const ids: string[] = [];
    for (const [proxy, { byChannel, untilMs }] of this.#byProxy) {
      if (untilMs > nowMs) continue;
      this.#byProxy.delete(proxy);
      ids.push(...byChannel.keys());
    }
    return ids;
  }

  /** @returns undefined when nobody says anything against the channel */
  healthOf(id: string): ChannelHealth | undefined {
    const ejected = new Set<string>();
    const refused = new Set<string>();
    for (const { byChannel } of this.#byProxy.values()) {
      for (const { credential, reason } of byChannel.get(id) ?? []) {
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
    this.#sinceMs = this.#now();
  }
}

function textOf(credentials: readonly EjectedCredential[] | undefined): string {
  return (credentials ?? [])
    .map(({ credential, reason }) => `${credential} ${reason}`)
    .sort()
    .join("\n");
}
