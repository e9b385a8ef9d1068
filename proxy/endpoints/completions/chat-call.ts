/**
 * Says a completion as a chat call of one user message, for channels that speak a chat format and not completions.
 *
 * What is asked beside the text (an end to fit to, the prompt repeated, the best of several, probabilities by number)
 * has no place in a chat call and is refused, whatever the channel's policy: the reply would be another one (docs/design/completions.md 3).
 */
import { GatewayError } from "#proxy/errors";
import { invalidValue, presentMember, readCheckedCount, readFlag } from "#proxy/formats/body/parameter-rules";
import type { ChatCall, ChatEndpoint } from "#proxy/formats/format";
import { clientFormats } from "#proxy/formats/registry";
import { BodyEditor } from "#proxy/json/body-editor";
import { asList } from "#proxy/json/json-value";
import { readJson, readText, scanWrittenObject } from "#proxy/json/strict-json";
import type { ProxyLimits } from "#proxy/limits";
import { moveCap } from "./output-cap.ts";
import type { CompletionCall } from "./read-completion.ts";

/** Members that only completions have. */
const ownMembers = ["prompt", "suffix", "echo", "best_of", "logprobs"] as const;

const endpoint: ChatEndpoint = { protocol: "OpenAI", format: "ChatCompletions", capability: "Completion" };

/**
 * @param capMember where the channel's provider takes the cap of a chat call
 * @throws GatewayError `unsupported_parameter` for what no chat call can say
 */
export function chatCallOf(
  call: CompletionCall,
  capMember: "max_completion_tokens" | "max_tokens",
  { jsonDepthMax, jsonKeysMax }: ProxyLimits,
): ChatCall {
  const editor = new BodyEditor(call.body);
  const messages = `[{"role":"user","content":${promptText(call)}}]`;
  refuseOwnMembers(call);
  for (const name of ownMembers) editor.remove(name);
  editor.set("messages", messages);
  moveCap(editor, capMember);
  const format = clientFormats.ChatCompletions;
  // The message is two levels and two keys more than the prompt.
  const bounds = { depthMax: jsonDepthMax + 2, keysMax: jsonKeysMax + 2, watch: format.watchedKeys };
  const beyond = (): GatewayError => invalidValue("prompt", "is too large for the selected model");
  return format.readCall(scanWrittenObject(editor.build(), bounds, beyond), endpoint);
}

/** The one prompt, as JSON. */
function promptText({ body, prompts, tokenIds }: CompletionCall): string {
  const member = presentMember(body, "prompt");
  if (member === undefined) throw refused("prompt", "must be a text");
  if (tokenIds > 0) throw refused("prompt", "must be a text and no token ids");
  if (prompts > 1) throw refused("prompt", "must be one text");
  if (member.kind === "string") return readText(body, member);
  return JSON.stringify(asList(readJson(body, member))[0]);
}

function refuseOwnMembers({ body }: CompletionCall): void {
  const suffix = presentMember(body, "suffix");
  if (suffix !== undefined && readText(body, suffix) !== '""') throw refused("suffix", "is not supported");
  if (readFlag(body, "echo")) throw refused("echo", "is not supported");
  if ((readCheckedCount(body, "best_of") ?? 1) > (readCheckedCount(body, "n") ?? 1)) {
    throw refused("best_of", "must not be more than 'n'");
  }
  const logprobs = presentMember(body, "logprobs");
  if (logprobs !== undefined && logprobs.kind !== "false") throw refused("logprobs", "is not supported");
}

function refused(param: string, problem: string): GatewayError {
  return new GatewayError(
    "unsupported_parameter",
    `'${param}' ${problem} for this model, whose provider takes chat calls alone.`,
    {
      param,
    },
  );
}
