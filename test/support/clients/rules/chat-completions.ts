/** What OpenAI refuses of a chat completion: the pages "Create chat completion", "Function calling", "Reasoning models". */
import { count, list, member, text } from "#examples/demo-upstream/json-view";
import { isReasoningModel, outputTokensMax, refusesEffortBesideTools } from "./openai-models.ts";
import { refuseSchema } from "./openai-schema.ts";
import { firstOf, type Rule } from "./rule.ts";

const callIdLengthMax = 64;

const functionNames: Rule = (body) =>
  firstOf(list(body["tools"]), (tool, index) => {
    const name = text(member(member(tool, "function"), "name")) ?? "";
    return /^[a-zA-Z0-9_-]{1,64}$/.test(name)
      ? undefined
      : `Invalid 'tools[${index}].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
  });

const toolTypes: Rule = (body) =>
  firstOf(list(body["tools"]), (tool, index) =>
    ["function", "custom"].includes(text(member(tool, "type")) ?? "")
      ? undefined
      : `Invalid value: '${member(tool, "type")}'. Supported values are: 'function' and 'custom'. (tools[${index}].type)`,
  );

const schemas: Rule = (body) =>
  firstOf(list(body["tools"]), (tool) => {
    const called = member(tool, "function");
    return refuseSchema(
      text(member(called, "name")) ?? "",
      member(called, "parameters"),
      member(called, "strict") === true,
    );
  });

const callIds: Rule = (body) =>
  firstOf(list(body["messages"]), (message, at) =>
    firstOf(list(member(message, "tool_calls")), (call, index) => {
      const { length } = text(member(call, "id")) ?? "";
      return length <= callIdLengthMax
        ? undefined
        : `Invalid 'messages[${at}].tool_calls[${index}].id': string too long. Expected a string with maximum length ${callIdLengthMax}, but got a string with length ${length} instead.`;
    }),
  );

/** Results follow their calls at once, each with the id of one of them. */
const resultsOfCalls: Rule = (body) => {
  let open: string[] = [];
  for (const [index, message] of list(body["messages"]).entries()) {
    const id = text(member(message, "tool_call_id")) ?? "";
    if (member(message, "role") === "tool") {
      if (!open.includes(id)) {
        return `Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'. (messages[${index}])`;
      }
      open = open.filter((one) => one !== id);
    } else if (open.length > 0) {
      return unanswered(open);
    } else {
      open = list(member(message, "tool_calls")).flatMap((call) => text(member(call, "id")) ?? []);
    }
  }
  return open.length > 0 ? unanswered(open) : undefined;
};

function unanswered(ids: readonly string[]): string {
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(", ")}`;
}

const effortBesideTools: Rule = (body, model) => {
  const effort = body["reasoning_effort"];
  const isRefused = refusesEffortBesideTools(model) && list(body["tools"]).length > 0;
  return isRefused && effort !== undefined && effort !== "none"
    ? `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. Please use /v1/responses instead.`
    : undefined;
};

const outputCap: Rule = (body, model) => {
  if (isReasoningModel(model) && body["max_tokens"] !== undefined) {
    return "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
  }
  const wanted = count(body["max_completion_tokens"]) ?? count(body["max_tokens"]) ?? 1;
  return wanted > outputTokensMax(model)
    ? `max_tokens is too large: ${wanted}. This model supports at most ${outputTokensMax(model)} completion tokens, whereas you provided ${wanted}.`
    : undefined;
};

const sampling: Rule = (body, model) => {
  const given = isReasoningModel(model) ? count(body["temperature"]) : undefined;
  return given === undefined || given === 1
    ? undefined
    : `Unsupported value: 'temperature' does not support ${given} with this model. Only the default (1) value is supported.`;
};

export const chatCompletionsRules: readonly Rule[] = [
  toolTypes,
  functionNames,
  schemas,
  callIds,
  resultsOfCalls,
  effortBesideTools,
  outputCap,
  sampling,
];
