/** Turns and parts of a conversation, as small as they may be, and servers that speak chat completions as others do. */
import type { CallPart, Part, ResultPart, Turn } from "#proxy/neutral/conversation";

export const compatible = { provider: "OpenAICompatible", baseURL: "http://models.internal:8000/v1" } as const;
export const openRouter = { provider: "OpenAICompatible", baseURL: "https://openrouter.ai/api/v1" } as const;
export const text = (value: string): Part => ({ kind: "text", text: value });
export const user = (...parts: Part[]): Turn => ({ role: "user", parts });
export const assistant = (...parts: Part[]): Turn => ({ role: "assistant", parts });
export const system = (...parts: Part[]): Turn => ({ role: "system", parts });
export const call = (id: string, args = "{}", more: Partial<CallPart> = {}): CallPart => ({
  kind: "call",
  id,
  name: `f_${id}`,
  tool: "function",
  arguments: args,
  ...more,
});
export const result = (callId: string, value: string, more: Partial<ResultPart> = {}): ResultPart => ({
  kind: "result",
  callId,
  content: value === "" ? [] : [{ kind: "text", text: value }],
  ...more,
});
