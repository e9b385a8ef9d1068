/** What OpenAI refuses of a response: the pages "Create a response", "Function calling", "Reasoning models". */
import { count, list, member, text } from "#examples/demo-upstream/json-view";
import { isReasoningModel, outputTokensMax } from "./openai-models.ts";
import { refuseSchema } from "./openai-schema.ts";
import { firstOf, type Rule } from "./rule.ts";

const callIdLengthMax = 64;

const functionNames: Rule = (body) =>
  firstOf(list(body["tools"]), (tool, index) => {
    if (member(tool, "type") !== "function") return undefined;
    return /^[a-zA-Z0-9_-]{1,64}$/.test(text(member(tool, "name")) ?? "")
      ? undefined
      : `Invalid 'tools[${index}].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
  });

/** Functions are strict here unless they say that they are not. */
const schemas: Rule = (body) =>
  firstOf(list(body["tools"]), (tool) =>
    member(tool, "type") === "function"
      ? refuseSchema(text(member(tool, "name")) ?? "", member(tool, "parameters"), member(tool, "strict") === true)
      : undefined,
  );

const callIds: Rule = (body) =>
  firstOf(list(body["input"]), (item, index) => {
    const { length } = text(member(item, "call_id")) ?? "";
    return length <= callIdLengthMax
      ? undefined
      : `Invalid 'input[${index}].call_id': string too long. Expected a string with maximum length ${callIdLengthMax}, but got a string with length ${length} instead.`;
  });

const resultsOfCalls: Rule = (body) => {
  const idsOf = (type: string): unknown[] =>
    list(body["input"]).flatMap((item) => (member(item, "type") === type ? [member(item, "call_id")] : []));
  const [calls, results] = [idsOf("function_call"), idsOf("function_call_output")];
  const stray = results.find((id) => !calls.includes(id));
  if (stray !== undefined) return `No tool call found for function call output with call_id ${stray}.`;
  const unanswered = calls.find((id) => !results.includes(id));
  return unanswered === undefined ? undefined : `No tool output found for function call ${unanswered}.`;
};

const outputCap: Rule = (body, model) => {
  const wanted = count(body["max_output_tokens"]) ?? 16;
  if (wanted < 16)
    return `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${wanted} instead.`;
  return wanted > outputTokensMax(model)
    ? `Invalid 'max_output_tokens': integer above maximum value. Expected a value <= ${outputTokensMax(model)}, but got ${wanted} instead.`
    : undefined;
};

const sampling: Rule = (body, model) =>
  isReasoningModel(model) && body["temperature"] !== undefined && body["temperature"] !== 1
    ? "Unsupported parameter: 'temperature' is not supported with this model."
    : undefined;

export const responsesRules: readonly Rule[] = [functionNames, schemas, callIds, resultsOfCalls, outputCap, sampling];
