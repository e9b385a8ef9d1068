/**
 * The semantic digest: folds a reply of any chat format, whole or streamed, to the facts it states, so that replies can
 * be compared by what they say and not by their bytes. Tests hold the proxy to it; it shares no code with the proxy.
 */
import { digestChat } from "./digest-chat.ts";
import { digestGemini } from "./digest-gemini.ts";
import { digestMessages } from "./digest-messages.ts";
import { digestResponses } from "./digest-responses.ts";
import { readError } from "./error-class.ts";
import { type Digest, type DigestProtocol, emptyDigest } from "./facts.ts";
import { parseReply } from "./parse-reply.ts";

export type { Digest, DigestProtocol } from "./facts.ts";

/**
 * @param httpStatus status of the reply; 200 unless given
 * @throws when the bytes are no reply at all: not UTF-8, not JSON
 */
export function digest(protocol: DigestProtocol, bytes: Buffer, httpStatus = 200): Digest {
  const reply = parseReply(bytes);
  const facts = emptyDigest();
  let keepsStop = false;
  if (protocol === "openai-chat") digestChat(reply, facts);
  else if (protocol === "openai-responses") digestResponses(reply, facts);
  else if (protocol === "anthropic-messages") keepsStop = digestMessages(reply, facts);
  else digestGemini(reply, facts);
  if (httpStatus >= 400) facts.error = readError(reply.body, httpStatus);
  if (facts.tools.length > 0 && facts.finish === "stop" && !keepsStop) facts.finish = "tool_calls";
  if (facts.error !== null) {
    facts.status = "error";
    facts.finish = "error";
    facts.usage = null;
  }
  return facts;
}
