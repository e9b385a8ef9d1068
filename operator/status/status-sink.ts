/** The interface that status is written to: files beside a folder of manifests, the API server in a cluster. */
import type { StatusDocument } from "./status-document.ts";

export interface ObjectName {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Writes status. */
export interface StatusSink {
  /** The present status of an object: its meaning changed. */
  put(document: StatusDocument): void;
  /** The object is gone. */
  remove(object: ObjectName): void;
  /** Finds the status of an earlier run; call it before the first `put`. */
  findPresent(): Promise<void>;
  /** Removes the status of objects that are gone; call it after the first pass. */
  removeAllBut(isKept: (object: ObjectName) => boolean): void;
  close(): Promise<void>;
}

/** A sink that writes nothing. */
export const noStatus: StatusSink = {
  put: () => undefined,
  remove: () => undefined,
  findPresent: async () => undefined,
  removeAllBut: () => undefined,
  close: async () => undefined,
};
