/** Makes the path rule of an OpenAI-style endpoint. */
import type { FixedPath } from "./endpoint.ts";

/** POST to a path, also with its version left out or doubled, as clients with another base address write it. */
export function openAIPath<M>(path: `/v1/${string}`, match: M): FixedPath<M> {
  return { kind: "fixed", path, otherSpellings: [path.slice("/v1".length), `/v1${path}`], match };
}
