/**
 * Sources of an answer as messages clients know them: results of a web search.
 *
 * The member by which the vendor finds its own result holds the gateway's mark, so that a citation of another provider
 * is taken out again before it could go to the vendor (`remove-sealed-state.ts`).
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
