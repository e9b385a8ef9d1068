/** Defines one change to a reply on its way from reader to writer; filters know nothing of each other. */
import type { ReplyEvent } from "#proxy/neutral/reply";

export interface ReplyFilter {
  /** The events to pass on in place of this one, often just itself. */
  apply(event: ReplyEvent): readonly ReplyEvent[];
  /** The response is over for the client although the upstream would say more. */
  readonly isCut?: boolean;
  /** Texts or arguments are held until they are whole. */
  readonly gathers?: true;
}

/** Identifies a part of a reply in maps. */
export function partKey({ candidate, part }: { readonly candidate: number; readonly part: number }): string {
  return `${candidate}/${part}`;
}
