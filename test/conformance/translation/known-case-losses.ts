/** Where a case of another gateway asks for what is refused or said otherwise here, each with its reason. */

export interface KnownCase {
  readonly reason: string;
  /** Facts that need not be kept. */
  readonly facts?: readonly string[];
  /** The call is refused, and this is what the answer names … */
  readonly refused?: RegExp;
  /** … until its body reads otherwise: texts replaced in its JSON. */
  readonly instead?: readonly (readonly [part: string, by: string])[];
}

export const knownCases: Readonly<Record<string, KnownCase>> = {
  "request/anthropic-messages--openai-responses--responses_agent_subset": {
    reason: "it names a file that Anthropic keeps, which no other provider can read",
    refused: /messages\.0\.content\.3/,
    instead: [[',{"type":"image","source":{"type":"file","file_id":"file_abc123"}}', ""]],
  },
  "request/openai-chat--anthropic-messages--full": {
    reason:
      "it asks for three answers, which cost three times as much as the one that Anthropic gives; JSON without a schema can only be asked for in words there; a forced tool must be declared; Claude 4 takes temperature or top_p, and no stop sequence of white space",
    facts: ["top_p", "stop"],
    refused: /'n'/,
    instead: [
      ['"n":3,', ""],
      ['"response_format":{"type":"json_object"},', ""],
      ['"name":"my_function"', '"name":"get_weather"'],
    ],
  },
  "request/openai-chat--anthropic-messages--tool-call": {
    reason:
      "its history holds calls of tools that it does not declare: Anthropic refuses that, so they are declared and their use is forbidden",
    facts: ["tools", "tool choice"],
  },
  "request/openai-chat--gemini--image-file": {
    reason: "an address in Google's storage is an object of the account that holds it",
    refused: /image_url/,
  },
  ...Object.fromEntries(
    ["anthropic-messages", "openai-responses"].map((client) => [
      `response/openai-chat--${client}--audio`,
      { reason: "its answers hold no sound: a text says that it was omitted", facts: ["visible text"] },
    ]),
  ),
  "response/openai-chat--anthropic-messages--truncated_tool_call": {
    reason: "arguments that were cut at the token limit are mended to an object: the format takes nothing else",
    facts: ["tools"],
  },
};
