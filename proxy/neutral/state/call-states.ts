/**
 * Keeps the state of recent tool calls, for clients whose format has no place for it: chat completions above all.
 *
 * Entries live in this process, by client key and call id, for an hour after their last use; entries and bytes are
 * bounded, and the longest unused go first. A lost entry costs quality, never correctness: every writer can do without
 * it.
 */
import type { ProviderState } from "#proxy/neutral/conversation";

export interface CallStatesOptions {
  readonly entriesMax: number;
  readonly bytesMax: number;
  readonly idleMsMax: number;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
}

/** One hour, and memory that a proxy does not notice. */
export const callStatesDefaults = { entriesMax: 20_000, bytesMax: 32 * 1024 * 1024, idleMsMax: 3_600_000 } as const;

interface Entry {
  readonly states: readonly ProviderState[];
  readonly bytes: number;
  usedMs: number;
  /** Two replies gave their call this id, so that it tells no conversation: some servers count (`functions.f:0`). */
  readonly isShared: boolean;
}

export class CallStates {
  readonly #options: CallStatesOptions;
  /** In the order of their last use. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(options: CallStatesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Words of the model are kept only while their call's id is the id of no other call: they must never stand in another
   * conversation. Signatures of another are refused, or of no use.
   *
   * @param owner what the state belongs to: nobody else finds it
   * @param given none: what was known of another call of this id is forgotten
   */
  remember(owner: string, callId: string, given: readonly ProviderState[]): void {
    const key = keyOf(owner, callId);
    const known = this.#entries.get(key);
    const isShared = known !== undefined && (known.isShared || wordsOf(known.states) !== wordsOf(given));
    const states = isShared ? given.filter(({ kind }) => kind !== "reasoning-text") : given;
    const bytes = states.reduce((sum, state) => sum + charactersOfState(state), 0);
    if ((states.length === 0 && !isShared) || bytes > this.#options.bytesMax / 16) return;
    this.#remove(key);
    this.#entries.set(key, { states, bytes, usedMs: this.#options.clock(), isShared });
    this.#bytes += bytes;
    this.#trim();
  }

  recall(owner: string, callId: string): readonly ProviderState[] {
    const key = keyOf(owner, callId);
    const entry = this.#entries.get(key);
    if (entry === undefined) return [];
    this.#entries.delete(key);
    if (this.#options.clock() - entry.usedMs > this.#options.idleMsMax) {
      this.#bytes -= entry.bytes;
      return [];
    }
    entry.usedMs = this.#options.clock();
    this.#entries.set(key, entry);
    return entry.states;
  }

  #trim(): void {
    const { entriesMax, bytesMax, idleMsMax, clock } = this.#options;
    for (const [key, entry] of this.#entries) {
      const isOld = clock() - entry.usedMs > idleMsMax;
      if (!isOld && this.#entries.size <= entriesMax && this.#bytes <= bytesMax) return;
      this.#remove(key);
    }
  }

  #remove(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }
}

function wordsOf(states: readonly ProviderState[]): string {
  return states.map((state) => (state.kind === "reasoning-text" ? state.text : "")).join("");
}

function keyOf(owner: string, callId: string): string {
  return `${owner}\n${callId}`;
}

/** How much text of a provider there is to a state. */
export function charactersOfState(state: ProviderState): number {
  switch (state.kind) {
    case "thinking":
      return state.text.length + state.signature.length;
    case "reasoning-text":
      return state.text.length;
    case "encrypted-reasoning":
      return state.data.length + state.summary.reduce((sum, text) => sum + text.length, 0);
    case "reasoning-details":
      return JSON.stringify(state.entries).length;
    default:
      return state.data.length;
  }
}
