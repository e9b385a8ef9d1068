/** Names of protocols, wire formats and endpoints, shared by the stages of the request pipeline. */
import type { Capability, WireFormat } from "#proxy/snapshot/types.gen";

/** The three client protocols of INTERFACE.md section 1 (A, B, C), by whose shape errors and lists have. */
export type Protocol = "OpenAI" | "Anthropic" | "Gemini";

/** The four chat formats. */
export type ChatWireFormat = Extract<WireFormat, "ChatCompletions" | "Responses" | "Messages" | "GenerateContent">;

/** What a matched path asks for. `modelInPath` is decoded, without a `models/` prefix. */
export type Endpoint =
  | {
      readonly kind: "chat";
      readonly protocol: Protocol;
      readonly format: ChatWireFormat;
      readonly capability: Capability;
      /** Gemini-style only: the model of the path. */
      readonly modelInPath?: string;
      /** Gemini-style only: `streamGenerateContent` asked for; `sse` with `alt=sse`, else a streamed JSON array. */
      readonly geminiStream?: "sse" | "array";
    }
  /** How many tokens a prompt of this chat format has. `modelInPath` for Gemini-style only. */
  | {
      readonly kind: "count-tokens";
      readonly protocol: Protocol;
      readonly format: Extract<ChatWireFormat, "Messages" | "GenerateContent">;
      readonly capability: Capability;
      readonly modelInPath?: string;
    }
  /** A response that was made before, by its id as it stands in the path. */
  | {
      readonly kind: "stored-response";
      readonly protocol: "OpenAI";
      readonly action: "read" | "delete" | "list-input";
      readonly responseId: string;
    }
  | { readonly kind: "model-list"; readonly protocol: Protocol }
  | { readonly kind: "model-get"; readonly protocol: Protocol; readonly modelInPath: string };
