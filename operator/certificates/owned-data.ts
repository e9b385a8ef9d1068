/**
 * A small Secret or ConfigMap of the operator's own namespace that several operators write. A write succeeds only when
 * nobody else changed the object since it was read.
 */
export interface OwnedData {
  /** @returns undefined when the object does not exist. @throws when the API server cannot tell */
  read(): Promise<VersionedData | undefined>;
  /**
   * Creates the object (`version` undefined) or replaces its data.
   *
   * @returns false when another writer was faster: read again. @throws when it cannot be written
   */
  write(data: Readonly<Record<string, string>>, version: string | undefined): Promise<boolean>;
}

export interface VersionedData {
  readonly data: Readonly<Record<string, string>>;
  readonly version: string;
}
