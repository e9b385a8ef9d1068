/** The proxies that the cluster reports, whether they ever connected or not. */
export interface ExpectedProxies {
  /** Names of the proxy pods that are ready for traffic; undefined until the first list. */
  readonly ready: ReadonlySet<string> | undefined;
  /** Names of all proxy pods that are not terminating, ready or not; undefined until the first list. */
  readonly present: ReadonlySet<string> | undefined;
  /** @returns a function that ends the listening */
  onChange(listener: () => void): () => void;
}
