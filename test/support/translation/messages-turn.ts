/** Messages of a turn that is paused, as a messages upstream tells them: whole and as events. */
import type { ScriptedReply } from "#test/support/fake-upstream";

/** One message of a turn: what it says and whether it pauses. */
export interface TurnStep {
  readonly content: readonly Record<string, unknown>[];
  readonly reason?: string;
  readonly usage?: object;
  readonly container?: object;
}

const searching = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "weather" } };
const found = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };
export const pausedStep: TurnStep = {
  content: [{ type: "text", text: "Let me look. " }, searching],
  reason: "pause_turn",
  usage: { input_tokens: 100, output_tokens: 20, server_tool_use: { web_search_requests: 1 } },
};
export const lastStep: TurnStep = {
  content: [found, { type: "text", text: "It rains." }],
  usage: { input_tokens: 150, output_tokens: 8, server_tool_use: { web_search_requests: 2 } },
};

export function wholeStep({ content, reason = "end_turn", usage, container }: TurnStep, index: number): ScriptedReply {
  const message = { id: `msg_${index}`, type: "message", role: "assistant", model: "m", content, usage };
  return { body: JSON.stringify({ ...message, stop_reason: reason, stop_sequence: null, container }) };
}

export function stepEvents({ content, reason = "end_turn", usage, container }: TurnStep, index: number): ScriptedReply {
  const frame = (type: string, members: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
  const message = { id: `msg_${index}`, type: "message", role: "assistant", model: "m", content: [] };
  const begun = { ...message, stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } };
  const blocks = content.map((block, at) => {
    const { type, text, input } = block;
    const start = type === "text" ? { ...block, text: "" } : input === undefined ? block : { ...block, input: {} };
    const delta =
      type === "text"
        ? { type: "text_delta", text }
        : input === undefined
          ? undefined
          : { type: "input_json_delta", partial_json: JSON.stringify(input) };
    return [
      frame("content_block_start", { index: at, content_block: start }),
      delta === undefined ? "" : frame("content_block_delta", { index: at, delta }),
      frame("content_block_stop", { index: at }),
    ].join("");
  });
  return {
    headers: { "content-type": "text/event-stream" },
    body: [
      frame("message_start", { message: begun }),
      frame("ping", {}),
      ...blocks,
      frame("message_delta", { delta: { stop_reason: reason, stop_sequence: null, container }, usage }),
      frame("message_stop", {}),
    ].join(""),
  };
}
