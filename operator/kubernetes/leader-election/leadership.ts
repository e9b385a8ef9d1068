/** Says which of several operators writes. Writers of status, Secrets and Events ask it before each write. */

export interface Leadership {
  /**
   * Whether this operator may write now. Ask right before each write, not once for many: the result is only as good as
   * the monotonic clock at this moment, and a process may be paused at any other.
   */
  isLeader(): boolean;
  /** Where the leader listens (`ip:port` of its push endpoint); undefined: unknown, or there is none. */
  leaderAddress(): string | undefined;
  /** Calls back when this operator became leader or ceased to be, and when the leader's address changed. */
  onChange(callback: () => void): () => void;
}

/** One operator alone, as in standalone mode. */
export const soleOperator: Leadership = {
  isLeader: () => true,
  leaderAddress: () => undefined,
  onChange: () => () => undefined,
};
