/** Members of the published requests that mean nothing to a provider of another format: each with its reason. */
import type { ChatWireFormat } from "#proxy/neutral/wire";

export interface KnownMemberLoss {
  readonly from: ChatWireFormat;
  /** Every other format when absent. */
  readonly to?: readonly ChatWireFormat[];
  /** Paths as `publishedMembers` names them; `*` stands for anything. */
  readonly members: readonly string[];
  readonly reason: string;
}

const default_ = "what happens without it, too";
const transport = "says how the answer travels, and the gateway sees to that for every upstream";
const fileName = "the name of a file is no content, and Google has no place for it";

export const knownMemberLosses: readonly KnownMemberLoss[] = [
  {
    from: "ChatCompletions",
    members: ["modalities", "function_call", "response_format", "tools[]<custom>.custom.format"],
    reason: default_,
  },
  { from: "ChatCompletions", members: ["stream_options*"], reason: transport },
  { from: "ChatCompletions", members: ["messages[].content[]<file>.file.file_id"], reason: "the file itself is there" },
  {
    from: "ChatCompletions",
    to: ["GenerateContent"],
    members: ["messages[].content[]<file>.file.filename"],
    reason: fileName,
  },
  {
    from: "ChatCompletions",
    to: ["Messages", "GenerateContent"],
    members: ["response_format<json_schema>.json_schema.strict"],
    reason: "answers keep to the schema there whether it is asked for or not",
  },
  {
    from: "ChatCompletions",
    to: ["Messages"],
    members: ["safety_identifier"],
    reason: "not forwarded unless the channel allows it (docs/design/interface.md 3)",
  },
  { from: "Responses", members: ["stream_options*"], reason: transport },
  {
    from: "Responses",
    members: [
      "text",
      "text.format",
      "store",
      "input[]<message>.type",
      "*<*>.caller",
      "*.allowed_callers",
      "*<shell*>.environment",
      "input[]<*>.tools[]*<custom>.format",
      "input[]<*>.tools[]<web_search*>.search_context_size",
      "input[]<*>.tools[]<web_search>.user_location<approximate>.type",
    ],
    reason: default_,
  },
  {
    from: "Responses",
    members: ["*<output_text>.annotations*", "*<output_text>.logprobs*"],
    reason: "notes of a provider on its own earlier answers (docs/design/translation.md 4.4)",
  },
  {
    from: "Responses",
    to: ["Messages", "GenerateContent"],
    members: ["input[]<function_call_output>.output[]<input_image>.detail"],
    reason: `${default_}: auto`,
  },
  {
    from: "Responses",
    members: [
      "input[]<message>.phase",
      "input[]<message>.status",
      "input[]<function_call>.id",
      "input[]<function_call>.status",
      "input[]<function_call_output>.id",
      "input[]<function_call_output>.status",
      "input[]<custom_tool_call>.id",
      "input[]<custom_tool_call_output>.id",
      "input[]<reasoning>.status",
      ...["tool_search_call", "tool_search_output", "shell_call", "shell_call_output"].flatMap((type) => [
        `input[]<${type}>.id`,
        `input[]<${type}>.status`,
      ]),
      "input[]<additional_tools>.id",
      "input[]<local_shell_call_output>.status",
      "input[]<apply_patch_call>.id",
      "input[]<apply_patch_call_output>.id",
      "input[]<tool_search_call>.execution",
      "input[]<tool_search_output>.execution",
      "input[]<shell_call_output>.max_output_length",
    ],
    reason: "a provider's own notes on items of earlier answers, which clients send back as they came",
  },
  {
    from: "Responses",
    members: ["input[]<reasoning>.encrypted_content", "input[]<reasoning>.content*", "input[]<reasoning>.summary*"],
    reason: "thinking of earlier turns can be read, or is taken back, by its own provider alone",
  },
  {
    from: "Responses",
    members: ["input[]<tool_search_output>.tools[]*.defer_loading"],
    reason: "what a search found is no longer deferred: it is offered whole",
  },
  {
    from: "Responses",
    members: ["input[]<function_call_output>.name"],
    reason: "the call that it answers has the name",
  },
  {
    from: "Responses",
    to: ["GenerateContent"],
    members: [
      "input[]<message>.content[]<input_file>.filename",
      "input[]<function_call_output>.output[]<input_file>.filename",
      "input[]<custom_tool_call_output>.output[]<input_file>.filename",
    ],
    reason: fileName,
  },
  ...(["ChatCompletions", "Responses", "Messages"] as const).map((from) => ({
    from,
    to: ["GenerateContent"] as const,
    members: ["stream"],
    reason: "there the path of the call says it",
  })),
  {
    from: "Messages",
    members: [
      "thinking<enabled>.display",
      "thinking<adaptive>.display",
      "tools[].type",
      "*.caller",
      "*.allowed_callers",
    ],
    reason: default_,
  },
  {
    from: "Messages",
    members: ["*<text>.citations*"],
    reason: "notes of a provider on its own earlier answers (docs/design/translation.md 4.4)",
  },
  {
    from: "Messages",
    members: ["messages[].content[]<thinking>.*", "messages[].content[]<redacted_thinking>.*"],
    reason: "thinking of earlier turns can be read, or is taken back, by its own provider alone",
  },
  { from: "Messages", to: ["GenerateContent"], members: ["service_tier"], reason: default_ },
  { from: "GenerateContent", members: ["generationConfig.responseModalities", "tools"], reason: default_ },
  {
    from: "GenerateContent",
    members: ["systemInstruction.parts[].thoughtSignature", "contents[].parts[].thoughtSignature"],
    reason: "Google signs its own answers: on text of others a signature says nothing",
  },
  {
    from: "GenerateContent",
    members: ["contents[].parts[].functionResponse.id"],
    reason: "the result answers the call of its name that waits for one",
  },
];
