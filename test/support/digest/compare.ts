/** Compares what an upstream said (U) with what the client got (C): the differences, by how much they matter. */
import { isDeepStrictEqual } from "node:util";
import { at, type Digest, type DigestProtocol, type ToolFact } from "./facts.ts";

export interface Difference {
  readonly level: "must" | "should";
  readonly fact: string;
  readonly upstream: unknown;
  readonly client: unknown;
}

export interface CompareOptions {
  /** Both sides speak one protocol: signatures, ids, citations and reasoning must come through unchanged. */
  readonly sameProtocol: boolean;
  /** Protocols of both sides, where they differ: what each can hold. */
  readonly from?: DigestProtocol;
  readonly to?: DigestProtocol;
  /** Told of every fact that is compared. */
  readonly onCheck?: (level: Difference["level"]) => void;
}

/** The differences between two digests; none when the client learnt everything it could. */
export function compare(upstream: Digest, client: Digest, options: CompareOptions): Difference[] {
  const { sameProtocol, from, to } = options;
  const differences: Difference[] = [];
  const check = (level: Difference["level"], fact: string, one: unknown, other: unknown): void => {
    options.onCheck?.(level);
    if (!isDeepStrictEqual(one, other)) differences.push({ level, fact, upstream: one, client: other });
  };
  const strict = sameProtocol ? "must" : "should";
  check("must", "status", upstream.status, client.status);
  check("should", "error class", upstream.error?.cls, client.error?.cls);
  check("must", "visible text", upstream.text + upstream.refusal, client.text + client.refusal);
  if (sameProtocol || (isOpenAI(from) && isOpenAI(to))) check("must", "refusal", upstream.refusal, client.refusal);
  check("must", "tools", upstream.tools.map(toolAsSeenBy(to)), client.tools.map(toolAsSeenBy(undefined)));
  const ids = client.tools.map(({ id }) => id);
  if (sameProtocol || (from !== "gemini" && to !== "gemini"))
    check(
      strict,
      "tool ids",
      upstream.tools.map(({ id }) => id),
      ids,
    );
  if (!sameProtocol && to !== undefined && to !== "gemini")
    check("must", "tool ids present and unique", true, !ids.includes(null) && new Set(ids).size === ids.length);
  const finish = comparableFinish(upstream);
  const isFilteredRefusal = finish === "stop" && upstream.refusal !== "" && client.finish === "content_filter";
  if (sameProtocol || !isFilteredRefusal) check("must", "finish", finish, comparableFinish(client));
  if (upstream.usage !== null) {
    const { reasoning, cache_write, ...counted } = upstream.usage;
    const { reasoning: gotReasoning, cache_write: gotWrite, ...got } = client.usage ?? { reasoning: 0, cache_write: 0 };
    check("must", "usage", counted, got);
    check("should", "reasoning tokens", reasoning ?? 0, gotReasoning ?? 0);
    if (sameProtocol || to === "anthropic-messages") check("should", "cache write tokens", cache_write, gotWrite);
  }
  check(strict, "reasoning", squeezed(upstream.reasoning), squeezed(client.reasoning));
  check(strict, "media", upstream.media, client.media);
  if (sameProtocol) check("must", "citations", upstream.citations, client.citations);
  else check("should", "citations", upstream.citations.map(titled), client.citations.map(titled));
  check(strict, "choices", upstream.choices, client.choices);
  if (sameProtocol) {
    check("must", "signatures", upstream.signatures, client.signatures);
    check("must", "server tools", upstream.server_tools, client.server_tools);
  }
  check("should", "order of text and calls", upstream.order, client.order);
  check("must", "warnings", [], client.warnings);
  return differences;
}

function isOpenAI(protocol: DigestProtocol | undefined): boolean {
  return protocol === "openai-chat" || protocol === "openai-responses";
}

/**
 * Protocols without custom tools carry the free text as the one member of an object (docs/design/translation.md 5.1).
 */
function toolAsSeenBy(to: DigestProtocol | undefined): (tool: ToolFact) => unknown {
  return ({ name, args }) => {
    const text = to === "anthropic-messages" || to === "gemini" ? at(args, "$custom") : undefined;
    return { name, args: text === undefined ? args : { input: text } };
  };
}

/** Protocols that insist on a title get an empty one. */
function titled({ url, title }: Digest["citations"][number]): unknown {
  return { url, title: title === "" ? null : title };
}

/** `pause`, `other` and null say nothing that every protocol can say. */
function comparableFinish({ finish }: Digest): string {
  return finish === null || finish === "pause" || finish === "other" ? "stop" : finish;
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, "");
}
