/**
 * Writes a search that another provider ran as messages clients know it: one use of the vendor's tool for each query,
 * and the results (docs/design/messages.md 4). `remove-sealed-state.ts` recognises them by their ids and removes them
 * before they could go to the vendor.
 */
import type { JsonObject } from "#proxy/json/json-value";
import type { HostedBlock } from "#proxy/neutral/reply";
import { envelopeMark } from "#proxy/neutral/state/envelope";
import { shownSearchMarks } from "#proxy/neutral/state/shown-search";

export interface SearchUse {
  readonly id: string;
  readonly query: string;
  /** The block behind the use. */
  readonly result: JsonObject;
}

/** Providers do not say which query found what: everything stands behind the last one. */
export function searchUses(block: HostedBlock, newId: (prefix: string) => string): SearchUse[] {
  const queries = block.queries ?? [];
  return queries.map((query, index) => {
    const id = newId(shownSearchMarks.Messages);
    const found = index === queries.length - 1 ? foundBy(block) : [];
    const content = block.hasFailed === true ? failed : found;
    return { id, query, result: { type: "web_search_tool_result", tool_use_id: id, content } };
  });
}

const failed = { type: "web_search_tool_result_error", error_code: "unavailable" } as const;

function foundBy({ sources = [] }: HostedBlock): JsonObject[] {
  return sources.map(({ url, title }) => ({
    type: "web_search_result",
    url,
    title: title ?? "",
    encrypted_content: envelopeMark,
    page_age: null,
  }));
}
