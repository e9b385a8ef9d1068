/** Text completions as an upstream of the format says them. */
import type { ReceivedRequest, ScriptedReply } from "#test/support/fake-upstream";

const base = { id: "cmpl-1", object: "text_completion", created: 1_790_000_000, model: "davinci-1" };
const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };

export const wholeCompletion = {
  ...base,
  choices: [{ text: " upon a time", index: 0, logprobs: null, finish_reason: "stop" }],
  usage,
};

function chunk(text: string, finish: string | null, index = 0): object {
  return { ...base, choices: [{ text, index, logprobs: null, finish_reason: finish }], usage: null };
}

/** Chunks with usage as OpenAI sends them when it was asked for usage. */
export const completionChunks: readonly object[] = [
  chunk(" upon", null),
  chunk(" a", null),
  chunk(" time", "stop"),
  { ...base, choices: [], usage },
];

export function eventsOf(...chunks: readonly (object | string)[]): string {
  return chunks.map((data) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`).join("");
}

export const completionStream = eventsOf(...completionChunks, "[DONE]");

export function streamScript(body: string, how: ScriptedReply = {}): ScriptedReply {
  return { body, headers: { "content-type": "text/event-stream" }, ...how };
}

/** Answers whole or streamed, as it is asked. */
export function replyAsAsked(request: ReceivedRequest): ScriptedReply {
  return /"stream"\s*:\s*true/.test(String(request.body))
    ? streamScript(completionStream)
    : { body: JSON.stringify(wholeCompletion) };
}
