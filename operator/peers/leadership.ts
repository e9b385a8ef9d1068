/** Who leads the operators; the Lease knows. */
export interface Leadership {
  readonly isLeader: boolean;
  /** `address:port` of the leader's push endpoint; undefined when nobody leads. */
  readonly leaderAddress: string | undefined;
  /** @returns a function that ends the listening */
  onChange(listener: () => void): () => void;
}

/** A single operator leads by itself. */
export const alwaysLeader: Leadership = {
  isLeader: true,
  leaderAddress: undefined,
  onChange: () => () => {},
};
