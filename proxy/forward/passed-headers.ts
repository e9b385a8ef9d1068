/** Headers of an upstream's answer: what they say of its body, and what of them goes to the client. */
import { clientHeaders } from "../http/header-rules.ts";
import { headerValues, type RawHeaders } from "../http/header-values.ts";
import { droppedHeader } from "../translate/dropped-fields.ts";

/**
 * Of the upstream what may pass, and what was dropped of the call and lost of the answer. Names and values in turn.
 *
 * @param dropped in the client's names
 */
export function passedHeaders(upstream: RawHeaders, dropped: readonly string[]): readonly string[] {
  const headers = clientHeaders(upstream);
  const names = droppedHeader(dropped);
  return names === undefined ? headers : [...headers, "x-tollgate-dropped", names];
}

/** The body calls itself one JSON text. */
export function isJson(upstream: RawHeaders): boolean {
  return headerValues(upstream, "content-type")[0]?.startsWith("application/json") === true;
}
