/** Which proxies the cluster says there are, whether they ever connected or not. */
export interface ExpectedProxies {
  /** Names of the proxy pods that are ready for traffic; undefined while the cluster has not said. */
  readonly ready: ReadonlySet<string> | undefined;
  /** Names of those that are there at all and not being ended, ready or not; undefined while the cluster has not said. */
  readonly present: ReadonlySet<string> | undefined;
  /** @returns a function that ends the listening */
  onChange(listener: () => void): () => void;
}
