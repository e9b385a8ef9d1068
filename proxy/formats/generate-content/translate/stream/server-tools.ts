/**
 * Reads what Google's own tools did in a reply, as far as the parts show it: `toolCall` and `toolResponse`
 * (ai.google.dev, Tool combination; docs/design/generate-content.md 3.2), and the queries that grounding names.
 *
 * Such parts must come back as they were, in their order, so each run of them travels as state of the first event that
 * is made of it. A search becomes one event, though both parts and grounding may name it.
 */

import { jsonText } from "#proxy/json/json-text";
import { asList, asText, isObject, type JsonObject, member } from "#proxy/json/json-value";
import type { ProviderState } from "#proxy/neutral/conversation";
import type { HostedBlock } from "#proxy/neutral/reply";

/** Beyond what any reply holds; what is more is not told, and cannot come back. */
const partsMax = 256;
const queriesMax = 1000;

export class ServerTools {
  /** Since the last other part. */
  #run: JsonObject[] = [];
  #parts = 0;
  readonly #emitted = new Set<string>();

  /** @param part with a `toolCall` or a `toolResponse` */
  add(part: JsonObject): void {
    this.#parts += 1;
    if (this.#parts <= partsMax) this.#run.push(part);
  }

  /** What the parts since the last other one say was done. */
  takeRun(): readonly HostedBlock[] {
    const run = this.#run;
    if (run.length === 0) return [];
    this.#run = [];
    const called = run.flatMap(({ toolCall }) => (isObject(toolCall) ? [this.#blockOf(toolCall)] : []));
    const [first = { kind: "hosted", tool: "other", type: "toolResponse" } as const, ...more] = called;
    return [{ ...first, states: run.map(serverToolPart) }, ...more];
  }

  /** A search that nothing told of yet; undefined when all queries were told. */
  search(queries: Iterable<string>, sources: HostedBlock["sources"]): HostedBlock | undefined {
    const fresh = this.#fresh([...queries]);
    if (fresh.length === 0) return undefined;
    const found = sources === undefined || sources.length === 0 ? {} : { sources };
    return { kind: "hosted", tool: "web-search", type: "googleSearch", queries: fresh, ...found };
  }

  #blockOf(call: JsonObject): HostedBlock {
    const type = asText(call["toolType"]) || "toolCall";
    const queries = type.startsWith("GOOGLE_SEARCH") ? this.#fresh(queriesOf(call["args"])) : [];
    if (queries.length === 0) return { kind: "hosted", tool: "other", type };
    return { kind: "hosted", tool: "web-search", type, queries };
  }

  #fresh(queries: readonly string[]): string[] {
    const fresh = [...new Set(queries)].filter((query) => query !== "" && !this.#emitted.has(query));
    const kept = fresh.slice(0, Math.max(0, queriesMax - this.#emitted.size));
    for (const query of kept) this.#emitted.add(query);
    return kept;
  }
}

/** A part as state. */
export function serverToolPart(part: JsonObject): ProviderState {
  return { kind: "server-tool-part", data: jsonText(part) };
}

function queriesOf(args: unknown): string[] {
  const listed = asList(member(args, "queries")).filter((query) => typeof query === "string");
  return listed.length > 0 ? listed : [asText(member(args, "query"))];
}
