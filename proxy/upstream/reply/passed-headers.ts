/** Reads the headers of an upstream's reply: what they say of its body, and which of them go to the client. */
import { clientHeaders } from "#proxy/http/header-rules";
import { headerValues, type RawHeaders } from "#proxy/http1/wire/header-values";
import { droppedHeader } from "#proxy/translate/dropped-fields";

/**
 * The headers of the upstream that may pass, the dropped fields of the call and the lost parts of the reply; names and
 * values alternate.
 *
 * @param dropped in the client's names
 */
export function passedHeaders(upstream: RawHeaders, dropped: readonly string[]): readonly string[] {
  const headers = clientHeaders(upstream);
  const names = droppedHeader(dropped);
  return names === undefined ? headers : [...headers, "x-tollgate-dropped", names];
}

/** A stream was asked for and a JSON body came: an error in disguise, or no stream. @param wanted type of content */
export function isJsonInsteadOf(wanted: string, upstream: RawHeaders): boolean {
  const [type] = headerValues(upstream, "content-type");
  return type?.startsWith("application/json") === true && !wanted.startsWith("application/json");
}
