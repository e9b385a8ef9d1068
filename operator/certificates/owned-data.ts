/**
 * A small object of the operator's own namespace (Secret or ConfigMap) that several operators write: changed only if
 * nobody else changed it since it was read.
 */
export interface OwnedData {
  /** @returns undefined when the object does not exist. @throws when the API server cannot say */
  read(): Promise<VersionedData | undefined>;
  /**
   * Creates the object (`version` undefined) or replaces its data.
   *
   * @returns false when somebody else was faster: read again. @throws when it cannot be written
   */
  write(data: Readonly<Record<string, string>>, version: string | undefined): Promise<boolean>;
}

export interface VersionedData {
  readonly data: Readonly<Record<string, string>>;
  readonly version: string;
}
