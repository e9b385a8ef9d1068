/**
 * Names protocols and wire formats, and describes what the path of a chat call states, for the stages of the request
 * pipeline.
 */
import type { Capability, WireFormat } from "#proxy/snapshot/types.gen";

/** The three client protocols of docs/design/interface.md 1 (A, B, C), by whose shape errors and lists have. */
export type Protocol = "OpenAI" | "Anthropic" | "Gemini";

/** The chat formats that clients speak. */
export type ChatWireFormat = Extract<WireFormat, "ChatCompletions" | "Responses" | "Messages" | "GenerateContent">;

/** The chat formats that upstreams are spoken to in: those of clients, and what a provider speaks alone. */
export type UpstreamWireFormat = ChatWireFormat;

/** The path of a model's call, and the format that its body has. */
export interface CallPath {
  readonly protocol: Protocol;
  readonly format: WireFormat;
  readonly capability: Capability;
}

/** The path of a chat call. */
export interface ChatEndpoint extends CallPath {
  readonly format: ChatWireFormat;
  /** Gemini-style only: the model of the path, decoded, without a `models/` prefix. */
  readonly modelInPath?: string;
  /** Gemini-style only: `streamGenerateContent` asked for; `sse` with `alt=sse`, else a streamed JSON array. */
  readonly geminiStream?: "sse" | "array";
}
