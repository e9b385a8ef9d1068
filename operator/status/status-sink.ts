/** Where status goes. */
import type { StatusDocument } from "./status-document.ts";

export interface ObjectName {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Who writes status: files beside a folder of manifests, the API server in a cluster. */
export interface StatusSink {
  /** The present status of an object: its meaning changed. */
  put(document: StatusDocument): void;
  /** The object is gone. */
  remove(object: ObjectName): void;
  /** Finds what an earlier run wrote; before the first `put`. */
  findPresent(): Promise<void>;
  /** Removes what is of objects that are gone; after the first pass. */
  removeAllBut(isKept: (object: ObjectName) => boolean): void;
  close(): Promise<void>;
}

/** Status that nobody writes. */
export const noStatus: StatusSink = {
  put: () => undefined,
  remove: () => undefined,
  findPresent: async () => undefined,
  removeAllBut: () => undefined,
  close: async () => undefined,
};
