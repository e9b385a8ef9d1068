/** Defines what readers and writers may do with a provider's opaque state. */
import type { CallPart, CarriedState, ProviderState, TextPart } from "#proxy/neutral/conversation";

/**
 * Keeps a provider's opaque state safe on its way through a client of another format (docs/design/translation.md 6.2).
 * Bound to one channel and one client key: what another channel or key sealed does not open.
 */
export interface StateKeeper {
  /** An envelope (`tg1.` and base64url) that only this channel opens. An empty list marks a block as the gateway's own. */
  seal(states: readonly ProviderState[]): string;
  /** Keeps state for a call in this process, for clients whose format has no place for it. */
  remember(callId: string, states: readonly ProviderState[]): void;
  /**
   * State of a part that may go to this channel: from the part itself, else (for calls) from memory. State of other
   * vendors, other channels, or forged, is left out. Native state of the client's own format never is this channel's.
   */
  recover(
    part: { readonly states?: readonly CarriedState[] | undefined } & (
      | CallPart
      | TextPart
      | { readonly kind: "reasoning" }
    ),
  ): readonly ProviderState[];
}
