/** Orders the chat formats by how much they keep of what a client of another one says (PURE). */
import type { ChatWireFormat } from "#proxy/neutral/wire";

/** The client's own format, then the others, those first that can say most of what it says. */
const nearest: Readonly<Record<ChatWireFormat, readonly ChatWireFormat[]>> = {
  ChatCompletions: ["ChatCompletions", "Responses", "GenerateContent", "Messages"],
  Responses: ["Responses", "ChatCompletions", "Messages", "GenerateContent"],
  // Reasoning state comes back through Responses, and is lost in chat completions.
  Messages: ["Messages", "Responses", "ChatCompletions", "GenerateContent"],
  GenerateContent: ["GenerateContent", "ChatCompletions", "Responses", "Messages"],
};

/** Of generateContent, for models that think and call in Responses alone. */
const nearestInResponses: readonly ChatWireFormat[] = ["GenerateContent", "Responses", "ChatCompletions", "Messages"];

/**
 * The formats in which a channel may be spoken to for a client of this one, the preferred first.
 * @param asksInResponses the call is better said in Responses than in chat completions
 */
export function chatFormatsFor(clientFormat: ChatWireFormat, asksInResponses = false): readonly ChatWireFormat[] {
  return asksInResponses && clientFormat === "GenerateContent" ? nearestInResponses : nearest[clientFormat];
}
