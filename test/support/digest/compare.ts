/** Compares what an upstream said (U) with what the client got (C): the differences, by how much they matter. */
import { isDeepStrictEqual } from "node:util";
import type { Digest } from "./facts.ts";

export interface Difference {
  readonly level: "must" | "should";
  readonly fact: string;
  readonly upstream: unknown;
  readonly client: unknown;
}

export interface CompareOptions {
  /** Both sides speak one protocol: signatures, ids, citations and reasoning must come through unchanged. */
  readonly sameProtocol: boolean;
}

/** The differences between two digests; none when the client learnt everything it could. */
export function compare(upstream: Digest, client: Digest, { sameProtocol }: CompareOptions): Difference[] {
  const differences: Difference[] = [];
  const check = (level: Difference["level"], fact: string, one: unknown, other: unknown): void => {
    if (!isDeepStrictEqual(one, other)) differences.push({ level, fact, upstream: one, client: other });
  };
  const strict = sameProtocol ? "must" : "should";
  check("must", "status", upstream.status, client.status);
  check("should", "error class", upstream.error?.cls, client.error?.cls);
  check("must", "visible text", upstream.text + upstream.refusal, client.text + client.refusal);
  if (sameProtocol) check("must", "refusal", upstream.refusal, client.refusal);
  check("must", "tools", upstream.tools.map(nameAndArguments), client.tools.map(nameAndArguments));
  check(
    strict,
    "tool ids",
    upstream.tools.map(({ id }) => id),
    client.tools.map(({ id }) => id),
  );
  check("must", "finish", comparableFinish(upstream), comparableFinish(client));
  if (upstream.usage !== null) {
    const { reasoning, cache_write, ...counted } = upstream.usage;
    const { reasoning: gotReasoning, cache_write: gotWrite, ...got } = client.usage ?? { reasoning: 0, cache_write: 0 };
    check("must", "usage", counted, got);
    check("should", "usage details", [reasoning ?? 0, cache_write], [gotReasoning ?? 0, gotWrite]);
  }
  check(strict, "reasoning", squeezed(upstream.reasoning), squeezed(client.reasoning));
  check(strict, "media", upstream.media, client.media);
  check(strict, "citations", upstream.citations, client.citations);
  check(strict, "choices", upstream.choices, client.choices);
  if (sameProtocol) {
    check("must", "signatures", upstream.signatures, client.signatures);
    check("must", "server tools", upstream.server_tools, client.server_tools);
  }
  check("must", "warnings", [], client.warnings);
  return differences;
}

function nameAndArguments({ name, args }: { name: string; args: unknown }): unknown {
  return { name, args };
}

/** `pause`, `other` and null say nothing that every protocol can say. */
function comparableFinish({ finish }: Digest): string {
  return finish === null || finish === "pause" || finish === "other" ? "stop" : finish;
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, "");
}
