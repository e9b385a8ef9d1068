/** What Anthropic refuses of a message: the pages "Messages", "Tool use" and "Extended thinking", "What's new" of models. */
import { count, isObject, list, member, text } from "#examples/demo-upstream/json-view";
import { signatureMark } from "#test/support/clients/formats/messages";
import { firstOf, type Rule } from "./rule.ts";

/** Models that always think and choose their tools themselves. */
function isAlwaysThinking(model: string): boolean {
  return /^claude-(?:opus|sonnet)-5-5|^claude-(?:fable|mythos)-5-1/.test(model);
}

/** Models that are told an effort and no budget. */
function isAdaptiveOnly(model: string): boolean {
  return /^claude-(?:opus|sonnet|haiku|fable|mythos)-(?:5|4-[7-9])/.test(model);
}

const forcedTools: Rule = (body, model) =>
  isAlwaysThinking(model) && ["any", "tool"].includes(text(member(body["tool_choice"], "type")) ?? "")
    ? `tool_choice: forced tool use is not supported by ${model}. Use 'auto' or 'none'.`
    : undefined;

const thinking: Rule = (body, model) => {
  const type = member(body["thinking"], "type");
  if (type === "disabled" && isAlwaysThinking(model)) return `thinking.type: 'disabled' is not supported by ${model}.`;
  if (type !== "enabled") return undefined;
  if (isAdaptiveOnly(model))
    return `"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".`;
  const budget = count(member(body["thinking"], "budget_tokens")) ?? 0;
  if (budget < 1024) return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024";
  return budget >= (count(body["max_tokens"]) ?? 0)
    ? "`max_tokens` must be greater than `thinking.budget_tokens`."
    : undefined;
};

const outputCap: Rule = (body) => ((count(body["max_tokens"]) ?? 0) > 0 ? undefined : "max_tokens: Field required");

const tools: Rule = (body) =>
  firstOf(list(body["tools"]), (tool, index) => {
    if (!["custom", undefined].includes(text(member(tool, "type")))) return undefined;
    const at = `tools.${index}.custom`;
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(text(member(tool, "name")) ?? "")) {
      return `${at}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
    }
    const schema = member(tool, "input_schema");
    if (member(schema, "type") !== "object") return `${at}.input_schema.type: Input should be 'object'`;
    if (["oneOf", "allOf", "anyOf"].some((word) => member(schema, word) !== undefined)) {
      return `${at}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`;
    }
    const properties = member(schema, "properties");
    const keys = isObject(properties) ? Object.keys(properties) : [];
    return keys.every((key) => /^[a-zA-Z0-9_.-]{1,64}$/.test(key))
      ? undefined
      : `${at}.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`;
  });

const blocks: Rule = (body) =>
  firstOf(list(body["messages"]), (message, at) =>
    firstOf(list(member(message, "content")), (block, index) => {
      const where = `messages.${at}.content.${index}`;
      if (member(block, "type") === "text" && (text(member(block, "text")) ?? "").trim() === "") {
        return "messages: text content blocks must be non-empty";
      }
      const id = text(member(block, "id")) ?? text(member(block, "tool_use_id")) ?? "id";
      if (!/^[a-zA-Z0-9_-]+$/.test(id)) return `${where}: id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
      if (member(block, "type") !== "thinking") return undefined;
      return (text(member(block, "signature")) ?? "").startsWith(signatureMark)
        ? undefined
        : `${where}: Invalid \`signature\` in \`thinking\` block`;
    }),
  );

/** Results stand at the beginning of the message behind their calls, one for each of them. */
const resultsOfCalls: Rule = (body) =>
  firstOf(list(body["messages"]), (message, at) => {
    const idsOf = (of: unknown, type: string, name: string): unknown[] =>
      list(member(of, "content")).flatMap((block) => (member(block, "type") === type ? [member(block, name)] : []));
    const results = idsOf(message, "tool_result", "tool_use_id");
    const calls = idsOf(list(body["messages"])[at - 1], "tool_use", "id");
    const stray = results.find((id) => !calls.includes(id));
    if (stray !== undefined)
      return `messages.${at}.content: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}.`;
    const missing = calls.filter((id) => !results.includes(id));
    return missing.length === 0
      ? undefined
      : `messages.${at - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}.`;
  });

export const messagesRules: readonly Rule[] = [outputCap, thinking, forcedTools, tools, blocks, resultsOfCalls];
