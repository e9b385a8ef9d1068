/**
 * Credentials of channels that their providers refuse, as the proxies report them: what `Healthy` is made of.
 *
 * A proxy tells all that it knows in every report, every few seconds while there is anything to tell: what it has not said
 * for a while holds no more, be it mended or the proxy gone. Not at once, because a provider that refuses some calls and
 * takes others would have status written all the time. One proxy is enough, since all send the same secret.
 */
import type { EjectedCredential, Report } from "#proxy/snapshot/push/messages";

/** A proxy may need half a minute to find that its operator is gone, and tells the next one within some seconds. */
export const forgottenAfterMs = 40_000;

/** What is refused of one channel, by name of the credential. */
export interface ChannelHealth {
  readonly ejected: readonly string[];
  /** Those of them that calls go on with all the same, by the secret they had before. */
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

  /** False until every proxy has had the time to tell what it knows. */
  get isComplete(): boolean {
    return this.#now() - this.#sinceMs >= forgottenAfterMs;
  }

  /** Takes a proxy's report. @returns the channels, by `resultId`, of which it says something else than before */
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

  /** Forgets what was not said for a while. @returns the channels it was about */
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

  /** @returns undefined when nobody says anything against the channel */
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
    this.waitAnew();
  }

  /** Nobody can have told anything yet. */
  waitAnew(): void {
    this.#sinceMs = this.#now();
  }
}

function textOf(credentials: readonly EjectedCredential[] | undefined): string {
  return (credentials ?? [])
    .map(({ credential, reason }) => `${credential} ${reason}`)
    .sort()
    .join("\n");
}
