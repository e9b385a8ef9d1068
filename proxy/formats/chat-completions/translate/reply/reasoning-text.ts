/**
 * Reads thinking that a server sends as plain text beside its reply: `reasoning_content` (DeepSeek, Moonshot, Xiaomi,
 * Z.ai, vLLM before 0.12), or `reasoning` (OpenRouter, Groq, vLLM since).
 *
 * Such servers want it back in the same member of the message that calls, and many refuse a conversation without it
 * (platform.xiaomimimo.com, "Passing back reasoning_content"; api-docs.deepseek.com, "Thinking mode", tool calls;
 * platform.moonshot.ai, "Use kimi-k2-thinking"). No name tells which ones do: each channel gets back what it sent.
 */
import { asText, type JsonObject } from "#proxy/json/json-value";
import type { ProviderState } from "#proxy/neutral/conversation";

type ReasoningTextState = Extract<ProviderState, { kind: "reasoning-text" }>;

const members = ["reasoning_content", "reasoning"] as const;

/** Beyond what any model thinks in one reply; what is dropped costs quality, never correctness. */
const charactersMax = 1024 * 1024;

export class ReasoningText {
  #member: ReasoningTextState["member"] = "reasoning_content";
  #text = "";

  /** @returns the thinking in a delta or a message; empty for none */
  read(delta: JsonObject): string {
    for (const member of members) {
      const text = asText(delta[member]);
      if (text === "") continue;
      this.#member = member;
      if (this.#text.length <= charactersMax) this.#text += text;
      return text;
    }
    return "";
  }

  /** What came since it was asked last. */
  consume(): ReasoningTextState | undefined {
    const text = this.#text;
    this.#text = "";
    if (text === "" || text.length > charactersMax) return undefined;
    return { kind: "reasoning-text", member: this.#member, text };
  }
}
