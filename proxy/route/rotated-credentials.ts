/**
 * Remembers replaced secrets of channels, and whether their provider accepts the new ones: a rotation that went wrong
 * costs no call (docs/design/reliability.md N5).
 *
 * Invariants: a former secret is used only after the provider refused the one in its place, never beside it, and only
 * where it was used before; it is forgotten as soon as the new one is accepted, the former one is refused as well, the
 * channel leads elsewhere, the credential leaves the configuration, or a day has passed. The new one is tried again
 * every half minute, by calls that can be made again. All of it is in memory: a proxy that restarts knows no former
 * secret. Every refusal of a provider is reported to the operator (`report-usage.ts`), former secret or not.
 */
import { hash } from "node:crypto";
import type { EjectedCredential } from "#proxy/snapshot/push/messages";
import type { Snapshot } from "#proxy/snapshot/snapshot";
import type { Channel, Credential } from "#proxy/snapshot/types.gen";
import type { SelectedTarget } from "./select-target.ts";

export interface RotatedCredentialsOptions {
  /** Monotonic, milliseconds. */
  readonly now: () => number;
  /** Told once each time a provider begins to refuse a secret. */
  readonly onRefused?: (ejected: EjectedCredential) => void;
}

/** A credential, and where its secret goes. */
interface Configured {
  readonly credential: Credential;
  readonly destination: string;
}

/** What is known of one credential that was replaced or refused. */
interface Entry {
  /** As configured. */
  readonly current: Credential;
  /** With the secret that the provider accepted before. */
  former: Credential | undefined;
  readonly formerUntilMs: number;
  /** The current one was refused, and is not asked before then where there is a former one. */
  refusedUntilMs: number | undefined;
}

const retryMs = 30_000;
const formerMs = 24 * 3_600_000;

export class RotatedCredentials {
  readonly #options: RotatedCredentialsOptions;
  /** By `namespace/channel/name`. */
  #configured = new Map<string, Configured>();
  readonly #entries = new Map<string, Entry>();

  constructor(options: RotatedCredentialsOptions) {
    this.#options = options;
  }

  /** A new configuration is live. */
  follow(snapshot: Pick<Snapshot, "channels" | "credential">): void {
    const configured = configuredBy(snapshot);
    for (const [id, { credential, destination }] of configured) {
      const before = this.#configured.get(id);
      if (before === undefined) continue;
      if (before.destination !== destination) this.#entries.delete(id);
      else if (before.credential.secret !== credential.secret) this.#replace(id, before.credential, credential);
    }
    for (const id of this.#entries.keys()) if (!configured.has(id)) this.#entries.delete(id);
    this.#configured = configured;
  }

  /**
   * The credential to send: the former one while the provider refuses the new one.
   * @param mayProbe the call can be made again, and may find out whether the new one is accepted by now
   */
  inUse(credential: Credential, mayProbe: boolean): Credential {
    const entry = this.#entryOf(credential);
    if (entry?.refusedUntilMs === undefined || entry.former === undefined) return credential;
    const nowMs = this.#options.now();
    if (nowMs >= entry.formerUntilMs) entry.former = undefined;
    return entry.former === undefined || (mayProbe && nowMs >= entry.refusedUntilMs) ? credential : entry.former;
  }

  /**
   * The provider has begun to reply to a call that was made with it. A failure later in the stream is reported elsewhere.
   * @param credential undefined for a channel that needs none
   */
  accepted(credential: Credential | undefined): void {
    if (credential === undefined) return;
    const entry = this.#entryOf(credential);
    if (entry?.current.secret === credential.secret) this.#entries.delete(idOf(credential));
  }

  /**
   * The provider refused it.
   * @param status of its reply: 403 may be about the model or the caller's words, and says nothing of the secret
   * @returns whether the call should be made again with the former secret, which `inUse` now gives
   */
  refused(credential: Credential, status: number | undefined): boolean {
    if (status === 403) return false;
    const id = idOf(credential);
    const entry = this.#entries.get(id);
    if (entry?.former !== undefined && entry.former.secret === credential.secret) {
      entry.former = undefined;
      return false;
    }
    // A call may still run with a secret that is configured no more: that one says nothing of what is.
    const configured = this.#configured.get(id)?.credential;
    if (configured?.secret !== credential.secret) return false;
    const known = entry ?? { current: configured, former: undefined, formerUntilMs: 0, refusedUntilMs: undefined };
    const isNews = known.refusedUntilMs === undefined;
    known.refusedUntilMs = this.#options.now() + retryMs;
    this.#entries.set(id, known);
    if (isNews) this.#options.onRefused?.(toEjected(known));
    return known.former !== undefined;
  }

  /** What providers refuse now. @param max of them at most */
  ejected(max: number): EjectedCredential[] {
    const ejected: EjectedCredential[] = [];
    for (const entry of this.#entries.values()) {
      if (ejected.length >= max) break;
      if (entry.refusedUntilMs !== undefined) ejected.push(toEjected(entry));
    }
    return ejected;
  }

  #replace(id: string, before: Credential, current: Credential): void {
    const entry = this.#entries.get(id);
    // A secret that was refused is nothing to go back to, but what it took the place of may be.
    const former = entry === undefined || entry.refusedUntilMs === undefined ? (entry?.former ?? before) : entry.former;
    if (former === undefined || former.secret === current.secret) this.#entries.delete(id);
    else {
      const formerUntilMs = this.#options.now() + formerMs;
      this.#entries.set(id, { current, former, formerUntilMs, refusedUntilMs: undefined });
    }
  }

  /** Mostly nothing was replaced or refused, and nothing need be looked up. */
  #entryOf(credential: Credential): Entry | undefined {
    return this.#entries.size === 0 ? undefined : this.#entries.get(idOf(credential));
  }
}

/**
 * A credential that was replaced may have to be sent with its former secret.
 * @param mayProbe see `RotatedCredentials.inUse`
 */
export function withSecretInUse(
  selected: SelectedTarget,
  credentials: Pick<RotatedCredentials, "inUse">,
  mayProbe: boolean,
): SelectedTarget {
  if (selected.credential === undefined) return selected;
  const credential = credentials.inUse(selected.credential, mayProbe);
  return credential === selected.credential ? selected : { ...selected, credential };
}

/** Those that calls are made with, by id. */
function configuredBy(snapshot: Pick<Snapshot, "channels" | "credential">): Map<string, Configured> {
  const configured = new Map<string, Configured>();
  for (const channel of snapshot.channels) {
    for (const { name, state } of channel.credentials) {
      const credential = state === "Active" ? snapshot.credential(channel.namespace, channel.name, name) : undefined;
      if (credential !== undefined)
        configured.set(idOf(credential), { credential, destination: destinationOf(channel) });
    }
  }
  return configured;
}

/** A secret must never go to anybody but who has seen it. Hashed, because keys of client certificates are part of it. */
function destinationOf({ baseURL, proxyURL, tls, auth }: Channel): string {
  return hash("sha256", JSON.stringify([baseURL, proxyURL, tls, auth]));
}

function idOf({ namespace, channel, name }: Credential): string {
  return `${namespace}/${channel}/${name}`;
}

function toEjected({ current, former }: Entry): EjectedCredential {
  const reason = former === undefined ? "Refused" : "FormerInUse";
  return { channel: `${current.namespace}/${current.channel}`, credential: current.name, reason };
}
