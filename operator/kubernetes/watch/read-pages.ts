/** Reads a whole list, page by page. */
import type { ListCollector, ListWatchOptions } from "./list-watch-options.ts";

export type PagesOptions = Pick<ListWatchOptions, "client" | "resource" | "namespace" | "fieldSelector" | "timings">;

/** @returns the version of the list. @throws ApiError 410 when a continue token has expired: the list starts anew */
export async function readPages(
  { client, resource, namespace, fieldSelector, timings }: PagesOptions,
  collector: Pick<ListCollector, "add">,
  signal: AbortSignal,
): Promise<string> {
  let continueToken: string | undefined;
  for (;;) {
    const limit = timings.pageSize;
    const page = await client.list(resource, { namespace, fieldSelector, limit, continueToken, signal });
    for (const object of page.items) collector.add(object);
    continueToken = page.continueToken;
    if (continueToken === undefined) return page.resourceVersion;
  }
}
