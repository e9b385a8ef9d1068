/**
 * Writes the sources of a reply as messages clients know them: results of a web search.
 *
 * The member by which the vendor finds its own result holds the gateway's mark, so that `remove-sealed-state.ts`
 * removes a citation of another provider before it could go to the vendor.
 */
import type { JsonObject } from "#proxy/json/json-value";
import type { Citation } from "#proxy/neutral/reply";
import { envelopeMark } from "#proxy/neutral/state/envelope";

export function writeCitation({ url, title, citedText }: Citation): JsonObject {
  return {
    type: "web_search_result_location",
    cited_text: citedText ?? "",
    encrypted_index: envelopeMark,
    title: title ?? null,
    url,
  };
}
