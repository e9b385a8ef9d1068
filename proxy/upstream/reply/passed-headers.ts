/** Reads the headers of an upstream's reply: what they say of its body, and which of them go to the client. */
import { clientHeaders } from "#proxy/http/header-rules";
import { headerValues, type RawHeaders } from "#proxy/http1/wire/header-values";
import { droppedHeader } from "#proxy/translate/dropped-fields";
import type { JudgedReply, ReplyReader } from "./reply-reader.ts";

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

const wholeReply: JudgedReply = {};

/** How a successful reply is read. A JSON body where a stream was asked for is an error in disguise, or no stream. */
export function judgeReply(reader: ReplyReader, upstream: RawHeaders): JudgedReply {
  const [type = ""] = headerValues(upstream, "content-type");
  if (reader.judge !== undefined) return reader.judge(type);
  const isJson = type.startsWith("application/json") && !reader.contentType.startsWith("application/json");
  return isJson ? wholeReply : reader;
}
