/** Defines the messages between the store of responses and its thread. Bodies are JSON text, written and read once. */
import type { ReferenceKind, StoreLimits } from "#proxy/responses-state/response-store";

export interface ResponseStoreStart {
  readonly folder: string;
  readonly limits: StoreLimits;
}

export interface KeptRow {
  readonly owner: string;
  readonly id: string;
  readonly previousId: string | undefined;
  readonly createdMs: number;
  readonly body: string;
  readonly itemIds: readonly string[];
}

export type StoreQuestion =
  | { readonly type: "get" | "chain" | "find-item" | "remove"; readonly owner: string; readonly id: string }
  | { readonly type: "size"; readonly asked: ReferenceKind; readonly owner: string; readonly id: string }
  | { readonly type: "keep"; readonly row: KeptRow }
  | { readonly type: "close" };

/** Numbered, so that a reply finds its caller. */
export interface NumberedQuestion {
  readonly number: number;
  readonly nowMs: number;
  readonly question: StoreQuestion;
}

export interface ResponseStoreReply {
  /** 0 for what nobody asked. */
  readonly number: number;
  /** Bodies found; none for nothing found. */
  readonly bodies?: readonly string[] | undefined;
  /** The size of the stored object, where the request asked for it. */
  readonly bytes?: number | undefined;
  readonly isDone?: boolean | undefined;
  /** The store could not do it. */
  readonly problem?: string | undefined;
}
