/** `POST /v1/completions`: goes on from a prompt by repeating it, whole or streamed. */
import { writeError } from "#examples/demo-upstream/chat-completions";
import { type DemoCall, type DemoEndpoint, eventsReply, jsonReply } from "#examples/demo-upstream/endpoint";
import { BadRequest } from "#examples/demo-upstream/format";
import { isOn, wholeNumber } from "#examples/demo-upstream/http/read-option";
import { member, text } from "#examples/demo-upstream/json-view";

/** As OpenAI's. */
const usualMaxTokens = 16;
const maxTokensMax = 1_000_000;
/** Of prompts, and of choices in all: a reply is made in memory. */
const promptsMax = 2048;
const shownCharactersMax = 400;

interface Prompt {
  /** Token numbers are shown as such. */
  readonly text: string;
  readonly tokens: number;
}

interface Choice {
  readonly index: number;
  readonly pieces: readonly string[];
  /** Without the prompt that it may begin with. */
  readonly tokens: number;
  readonly finish: "stop" | "length";
}

export const completions: DemoEndpoint = {
  path: /^\/v1\/completions$/,
  keyHeader: "bearer",
  writeError,
  reply: (call) => {
    const { body, model } = call;
    if (model === undefined) throw new BadRequest("model", "you must provide a model parameter");
    const prompts = readPrompts(body["prompt"]);
    const count = wholeNumber(body, "n", 1, Math.floor(promptsMax / prompts.length)) ?? 1;
    const maxTokens = wholeNumber(body, "max_tokens", 0, maxTokensMax) ?? usualMaxTokens;
    const choices = prompts.flatMap((prompt, place) =>
      Array.from({ length: count }, (_, index) => complete(call, prompt, place * count + index, maxTokens)),
    );
    const promptTokens = prompts.reduce((sum, prompt) => sum + prompt.tokens, 0);
    const completionTokens = choices.reduce((sum, choice) => sum + choice.tokens, 0);
    const usage = {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    };
    const head = { id: `cmpl-demo${call.serial}`, object: "text_completion", created: call.createdAt, model };
    if (isOn(body, "stream")) return writeStream(call, head, choices, usage);
    return jsonReply({
      ...head,
      choices: choices.map(({ index, pieces, finish }) => choiceObject(index, pieces.join(""), finish)),
      usage,
    });
  },
};

function choiceObject(index: number, said: string, finish: string | null): object {
  return { text: said, index, logprobs: null, finish_reason: finish };
}

function writeStream(call: DemoCall, head: object, choices: readonly Choice[], usage: object) {
  const event = (fields: object): string => `data: ${JSON.stringify({ ...head, ...fields })}\n\n`;
  const wantsUsage = member(call.body["stream_options"], "include_usage") === true;
  const events = choices.flatMap(({ index, pieces, finish }) => [
    ...pieces.map((piece) => event({ choices: [choiceObject(index, piece, null)] })),
    event({ choices: [choiceObject(index, "", finish)] }),
  ]);
  return eventsReply(
    [...events, ...(wantsUsage ? [event({ choices: [], usage })] : []), "data: [DONE]\n\n"],
    `data: ${JSON.stringify(writeError(500, "The demo upstream was asked to fail.", undefined))}\n\n`,
  );
}

function complete(call: DemoCall, prompt: Prompt, index: number, maxTokens: number): Choice {
  const suffix = text(call.body["suffix"]);
  const said = ` ... said the demo upstream, having read: ${prompt.text.slice(0, shownCharactersMax)}${
    suffix === undefined ? "" : ` (to be followed by: ${suffix.slice(0, shownCharactersMax)})`
  }`;
  const whole = said.match(/\s*\S{1,12}/gu) ?? [];
  const made = whole.slice(0, maxTokens);
  return {
    index,
    pieces: isOn(call.body, "echo") ? [prompt.text, ...made] : made,
    tokens: made.length,
    finish: made.length < whole.length ? "length" : "stop",
  };
}

/** One text, one list of token numbers, or a list of either. */
function readPrompts(given: unknown): readonly Prompt[] {
  const one = readPrompt(given ?? "");
  const prompts = one !== undefined ? [one] : Array.isArray(given) ? given.map(readPrompt) : [];
  const read = prompts.filter((prompt) => prompt !== undefined);
  if (read.length === 0 || read.length < prompts.length || read.length > promptsMax)
    throw new BadRequest("prompt", `Invalid 'prompt': give a text, token numbers, or a list of 1 to ${promptsMax}.`);
  return read;
}

function readPrompt(given: unknown): Prompt | undefined {
  if (typeof given === "string") return { text: given, tokens: Math.ceil(given.length / 4) };
  const isTokens = Array.isArray(given) && given.length > 0 && given.every(Number.isInteger);
  return isTokens ? { text: `tokens ${given.join(" ")}`, tokens: given.length } : undefined;
}
