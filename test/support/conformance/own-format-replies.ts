/** What only a format's own clients understand, in one whole reply of each format: for tests of streams and bodies of it. */
import type { DigestProtocol } from "#test/support/digest/facts";

const signature = "c2lnbmF0dXJl";

const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [
    { type: "thinking", thinking: "let me see", signature },
    { type: "redacted_thinking", data: signature },
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "news" } },
    {
      type: "web_search_tool_result",
      tool_use_id: "srvtoolu_1",
      content: [{ type: "web_search_result", url: "https://a.example", title: "A", encrypted_content: "ENC" }],
    },
    {
      type: "text",
      text: "It is so.",
      citations: [
        {
          type: "web_search_result_location",
          url: "https://a.example",
          title: "A",
          cited_text: "so",
          encrypted_index: "I",
        },
        { type: "char_location", document_index: 0, start_char_index: 0, end_char_index: 2, cited_text: "It" },
      ],
    },
    { type: "server_tool_use", id: "srvtoolu_2", name: "code_execution", input: { code: "1+1" } },
    {
      type: "code_execution_tool_result",
      tool_use_id: "srvtoolu_2",
      content: { type: "code_execution_result", stdout: "2", stderr: "", return_code: 0, content: [] },
    },
    { type: "mcp_tool_use", id: "mcptoolu_1", name: "echo", server_name: "s", input: { n: 1 } },
    { type: "mcp_tool_result", tool_use_id: "mcptoolu_1", is_error: false, content: [{ type: "text", text: "1" }] },
    { type: "future_block", payload: { deep: [1] } },
    { type: "tool_use", id: "toolu_1", name: "f", input: {}, caller: { type: "direct" } },
  ],
  stop_reason: "tool_use",
  stop_sequence: null,
  stop_details: null,
  container: { id: "container_1", expires_at: "2030-01-01T00:00:00Z" },
  context_management: { applied_edits: [] },
  future_member: "kept",
  usage: { input_tokens: 5, output_tokens: 7, server_tool_use: { web_search_requests: 1 }, future_count: 3 },
};

const annotations = [
  { type: "url_citation", url: "https://a.example", title: "A", start_index: 0, end_index: 2 },
  {
    type: "container_file_citation",
    container_id: "cntr_1",
    file_id: "cfile_1",
    filename: "a.csv",
    start_index: 0,
    end_index: 2,
  },
];
const logprobs = [{ token: "It", logprob: -0.1, bytes: [73, 116], top_logprobs: [] }];

const response = {
  id: "resp_1",
  object: "response",
  created_at: 1_790_000_000,
  completed_at: 1_790_000_001,
  status: "completed",
  model: "m",
  error: null,
  incomplete_details: null,
  output: [
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "T" }], encrypted_content: signature },
    { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "news" } },
    { type: "file_search_call", id: "fs_1", status: "completed", queries: ["q"], results: null },
    {
      type: "code_interpreter_call",
      id: "ci_1",
      status: "completed",
      container_id: "cntr_1",
      code: "1+1",
      outputs: [{ type: "logs", logs: "2" }],
    },
    { type: "image_generation_call", id: "ig_1", status: "completed", result: "AAAA", output_format: "webp" },
    { type: "mcp_list_tools", id: "mcpl_1", server_label: "s", tools: [], error: null },
    {
      type: "mcp_call",
      id: "mcp_1",
      server_label: "s",
      name: "echo",
      arguments: '{"n":1}',
      output: "1",
      error: null,
      status: "completed",
    },
    { type: "future_call", id: "fut_1", status: "completed", payload: { deep: [1] } },
    {
      type: "message",
      id: "msg_1",
      status: "completed",
      role: "assistant",
      phase: "final_answer",
      content: [
        { type: "output_text", text: "It is so.", annotations, logprobs },
        { type: "refusal", refusal: "no" },
      ],
    },
    { type: "function_call", id: "fc_1", call_id: "call_1", name: "f", arguments: "{}", status: "completed" },
    { type: "custom_tool_call", id: "ctc_1", call_id: "call_2", name: "g", input: "aa" },
  ],
  parallel_tool_calls: true,
  tool_choice: "auto",
  tools: [],
  metadata: {},
  future_member: "kept",
  usage: {
    input_tokens: 5,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 7,
    output_tokens_details: { reasoning_tokens: 1 },
    total_tokens: 12,
  },
};

const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1_790_000_000,
  model: "m",
  system_fingerprint: "fp_1",
  citations: ["https://a.example"],
  future_member: "kept",
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: "It is so.",
        refusal: null,
        reasoning_content: "let me see",
        reasoning_details: [{ type: "reasoning.encrypted", data: signature, index: 0 }],
        annotations: [
          {
            type: "url_citation",
            url_citation: { url: "https://a.example", title: "A", start_index: 0, end_index: 2 },
          },
        ],
        future_member: { deep: [1] },
        tool_calls: [
          {
            id: "call_1",
            type: "function",
            function: { name: "f", arguments: '{"n":1}' },
            extra_content: { google: { thought_signature: signature } },
          },
          { id: "call_2", type: "custom", custom: { name: "g", input: "aa" } },
        ],
      },
      logprobs: { content: logprobs, refusal: null },
      content_filter_results: { hate: { filtered: false } },
      finish_reason: "tool_calls",
    },
    {
      index: 1,
      message: { role: "assistant", content: "Or not.", refusal: null },
      logprobs: null,
      finish_reason: "stop",
    },
  ],
  usage: {
    prompt_tokens: 5,
    completion_tokens: 7,
    total_tokens: 12,
    completion_tokens_details: { accepted_prediction_tokens: 1 },
  },
};

const contents = {
  candidates: [
    {
      index: 0,
      content: {
        role: "model",
        parts: [
          { text: "let me see", thought: true },
          { executableCode: { language: "PYTHON", code: "1+1" } },
          { codeExecutionResult: { outcome: "OUTCOME_OK", output: "2" } },
          { text: "It is so." },
          { functionCall: { name: "f", args: { n: 1 } }, thoughtSignature: signature },
          { toolCall: { id: "t", toolType: "GOOGLE_SEARCH" } },
        ],
      },
      finishReason: "STOP",
      safetyRatings: [{ category: "HARM_CATEGORY_HARASSMENT", probability: "NEGLIGIBLE" }],
      groundingMetadata: {
        webSearchQueries: ["news"],
        searchEntryPoint: { renderedContent: "<p>" },
        groundingChunks: [{ web: { uri: "https://a.example", title: "A" } }],
        groundingSupports: [{ segment: { endIndex: 5, text: "It is" }, groundingChunkIndices: [0] }],
      },
      urlContextMetadata: {
        urlMetadata: [{ retrievedUrl: "https://a.example", urlRetrievalStatus: "URL_RETRIEVAL_STATUS_SUCCESS" }],
      },
      avgLogprobs: -0.1,
      logprobsResult: { chosenCandidates: [{ token: "It", logProbability: -0.1 }] },
    },
  ],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 7, totalTokenCount: 12, trafficType: "ON_DEMAND" },
  modelVersion: "m",
  responseId: "r",
  futureMember: "kept",
};

/** 5 tokens in, 7 out. */
export const ownFormatReplies: Readonly<Record<DigestProtocol, object>> = {
  "anthropic-messages": message,
  "openai-responses": response,
  "openai-chat": completion,
  gemini: contents,
};
