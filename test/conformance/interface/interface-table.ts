/**
 * Says for each row and rule of the interface's page which tests prove it: data for `interface-table.test.ts`, which holds
 * it against the page and against the tests that there are.
 *
 * A row is named by its section and its first cell (an endpoint by method and path), a rule by its section and number, a
 * point of a list by its section and first words.
 */

/** Full titles, or parts of them, of tests in one file. */
export interface Proof {
  readonly file: string;
  readonly titles: readonly string[];
}

const here = "test/conformance/interface";
const channels = "test/conformance/channels";

function proof(file: string, ...titles: readonly string[]): Proof {
  return { file, titles };
}

/** Taken at both edges of its range, and refused beyond them or with another type. */
function bounded(format: string, ...fields: readonly string[]): Proof {
  const titles = fields.flatMap((field) => [`${format} takes ${field} within`, `${format} refuses ${field} beyond`]);
  return proof(`${here}/limits.test.ts`, ...titles);
}

const chat = (...fields: readonly string[]): Proof => bounded("ChatCompletions", ...fields);
const responses = (...fields: readonly string[]): Proof => bounded("Responses", ...fields);
const messages = (...fields: readonly string[]): Proof => bounded("Messages", ...fields);
const contents = (...fields: readonly string[]): Proof => bounded("GenerateContent", ...fields);
const spelled = (...titles: readonly string[]): Proof => proof(`${here}/spellings.test.ts`, ...titles);
const endpoint = (...titles: readonly string[]): Proof => proof(`${here}/endpoints.test.ts`, ...titles);
const keys = (...titles: readonly string[]): Proof => proof(`${here}/authentication.test.ts`, ...titles);
const privacy = (...titles: readonly string[]): Proof =>
  proof(`${channels}/privacy-through-gateway.test.ts`, ...titles);
const headers = (...titles: readonly string[]): Proof =>
  proof(`${channels}/headers-through-gateway.test.ts`, ...titles);
const secrets = proof(
  "test/security/canaries.test.ts",
  "what the program writes and shows holds none of what was planted",
);
const pages = (...titles: readonly string[]): Proof => proof("test/integration/pages.test.ts", ...titles);
const embeddings = (...titles: readonly string[]): Proof => proof(`${here}/embeddings.test.ts`, ...titles);
const speech = (...titles: readonly string[]): Proof => proof("test/conformance/audio/speech.test.ts", ...titles);
const speechCharges = proof(
  "test/conformance/audio/speech-charges.test.ts",
  "characters, of any script, and the request",
);
const rerank = (...titles: readonly string[]): Proof => proof(`${here}/rerank.test.ts`, ...titles);
const images = (...titles: readonly string[]): Proof => proof(`${here}/image-generations.test.ts`, ...titles);
const edits = (...titles: readonly string[]): Proof => proof(`${here}/image-edits.test.ts`, ...titles);
const refusesImages = (fault: string): string => `refuses a call with ${fault} before`;
const imageCount = images('takes {"n":128}', refusesImages("n of 0"), refusesImages("n of 129"));
const compression = images(
  'takes {"output_compression":0}',
  'takes {"output_compression":100}',
  ...["compression of 101", "compression of -1"].map(refusesImages),
);
const chatTurns = proof(
  "test/unit/proxy/formats/chat-completions/translate/request/read/read-messages.test.ts",
  ...["roles reads system", "roles reads user with a name", "roles reads assistant", "content reads text"],
);

export const interfaceTable: Readonly<Record<string, readonly Proof[]>> = {
  "2.1 model": [
    endpoint("a call without model is a parameter error of ChatCompletions", "of Responses", "of Messages"),
  ],
  "2.1 messages": [
    endpoint(
      "a call without messages is a parameter error of ChatCompletions",
      "without messages is a parameter error of Messages",
    ),
  ],
  "2.1 input": [responses("input"), spelled("input as one object of Responses")],
  "2.1 prompt": [
    proof(`${here}/completions.test.ts`, "a call with a number as prompt", "prompts as token ids, and none"),
    images(...["no prompt", "a prompt that is no text"].map(refusesImages)),
  ],
  "2.1 stream": [chat("stream"), responses("stream"), messages("stream")],
  "2.1 metadata": [chat("metadata"), privacy("metadata and user pass by default")],
  "2.1 user": [chat("user"), spelled("user as an object of ChatCompletions", "user as an object of Responses")],

  "2.2 temperature": [chat("temperature"), responses("temperature"), messages("temperature")],
  "2.2 top_p": [chat("top_p"), responses("top_p"), messages("top_p")],
  "2.2 top_k": [
    chat("top_k"),
    messages("top_k"),
    proof(`${here}/limits.test.ts`, "top_k of ChatCompletions is left out where the model does not support it"),
  ],
  "2.2 max_tokens": [chat("max_tokens"), messages("max_tokens")],
  "2.2 max_completion_tokens": [chat("max_completion_tokens")],
  "2.2 max_output_tokens": [responses("max_output_tokens"), contents("max_output_tokens")],
  "2.2 stop": [chat("stop")],
  "2.2 stop_sequences": [messages("stop_sequences"), contents("stop_sequences")],
  "2.2 n": [
    chat("n"),
    proof(`${channels}/output-cap-through-gateway.test.ts`, "reserves for the candidates that a rule asks for"),
  ],
  "2.2 seed": [chat("seed"), contents("seed")],

  "2.3 messages": [chatTurns],
  "2.3 response_format": [chat("response_format")],
  "2.3 tools": [chat("tools")],
  "2.3 tool_choice": [chat("tool_choice")],
  "2.3 parallel_tool_calls": [chat("parallel_tool_calls")],
  "2.3 logprobs": [chat("logprobs")],
  "2.3 top_logprobs": [chat("top_logprobs")],
  "2.3 frequency_penalty": [chat("frequency_penalty")],
  "2.3 presence_penalty": [chat("presence_penalty")],
  "2.3 logit_bias": [chat("logit_bias")],
  "2.3 modalities": [chat("modalities")],
  "2.3 audio": [chat("audio")],

  "2.4 input": [responses("input"), endpoint("a call without input is a parameter error of Responses")],
  "2.4 instructions": [responses("instructions")],
  "2.4 previous_response_id": [
    proof(
      "test/conformance/responses-state/going-on.test.ts",
      "goes to the provider that keeps a response, and to no other",
      "tells a provider of another format the whole conversation",
    ),
  ],
  "2.4 max_output_tokens": [responses("max_output_tokens")],
  "2.4 reasoning": [responses("reasoning")],
  "2.4 text": [responses("text")],
  "2.4 tools": [responses("tools"), spelled("tools as one object of Responses")],
  "2.4 tool_choice": [responses("tool_choice")],
  "2.4 truncation": [responses("truncation")],
  "2.4 include": [responses("include")],
  "2.4 store": [responses("store")],

  "2.5 model": [endpoint("a call without model is a parameter error of Messages")],
  "2.5 messages": [endpoint("a call without messages is a parameter error of Messages")],
  "2.5 system": [messages("system")],
  "2.5 max_tokens": [messages("max_tokens"), endpoint("a call without max_tokens is a parameter error of Messages")],
  "2.5 temperature": [messages("temperature")],
  "2.5 top_p": [messages("top_p")],
  "2.5 top_k": [messages("top_k")],
  "2.5 stop_sequences": [messages("stop_sequences")],
  "2.5 stream": [messages("stream")],
  "2.5 tools": [messages("tools")],
  "2.5 tool_choice": [messages("tool_choice")],
  "2.5 thinking": [messages("thinking", "thinking.budget_tokens")],
  "2.5 metadata": [messages("metadata"), privacy("metadata passes by default, in Messages")],

  "2.6 contents": [
    spelled("contents as text of GenerateContent", "contents as one object of", "contents as one part of"),
    endpoint("a call without contents is a parameter error"),
  ],
  "2.6 systemInstruction": [spelled("systemInstruction as text of", "system_instruction of GenerateContent")],
  "2.6 tools": [spelled("tools as one object of GenerateContent")],
  "2.6 generationConfig.temperature": [contents("generationConfig.temperature", "temperature")],
  "2.6 generationConfig.topP or top_p": [contents("generationConfig.topP", "generationConfig.top_p", "top_p")],
  "2.6 generationConfig.topK or top_k": [contents("generationConfig.topK", "generationConfig.top_k", "top_k")],
  "2.6 generationConfig.maxOutputTokens or max_output_tokens": [
    contents("generationConfig.maxOutputTokens", "generationConfig.max_output_tokens", "max_output_tokens"),
  ],
  "2.6 generationConfig.candidateCount": [contents("generationConfig.candidateCount")],
  "2.6 generationConfig.stopSequences": [contents("generationConfig.stopSequences")],
  "2.6 generationConfig.responseMimeType": [contents("generationConfig.responseMimeType")],
  "2.6 generationConfig.responseSchema": [contents("generationConfig.responseSchema")],
  "2.6 generationConfig.presencePenalty": [contents("generationConfig.presencePenalty")],
  "2.6 generationConfig.frequencyPenalty": [contents("generationConfig.frequencyPenalty")],
  "2.6 generationConfig.seed": [contents("generationConfig.seed")],
  "2.6 generationConfig.thinkingConfig": [contents("generationConfig.thinkingConfig")],
  "2.6 generationConfig.responseModalities": [contents("generationConfig.responseModalities")],

  "2.7 model": [images(refusesImages("a model for chat"), "passes the call on under the upstream's name")],
  "2.7 prompt": [images(...["no prompt", "an empty prompt", "a prompt that is no text"].map(refusesImages))],
  "2.7 n": [imageCount, edits("with n of 0", "with n of 129")],
  "2.7 size": [
    images('takes {"size":"1792x1024"}', ...["a size in words", "a size without a height"].map(refusesImages)),
  ],
  "2.7 quality": [images("each picture by size and quality as the reply tells them")],
  "2.7 response_format": [
    images("is not sent: b64_json", "is not sent: url", "goes to every other model"),
    images(refusesImages("another form of response")),
  ],
  "2.7 background": [
    images('takes {"background":{"color":"#fff"}}', 'takes {"background":"transparent"}'),
    images(refusesImages("a background that is a list")),
  ],
  "2.7 output_format": [proof(`${here}/google-images.test.ts`, "makes four with one request, and says so")],
  "2.7 output_compression": [compression],
  "2.7 stream": [
    images("pass as they came, events of several megabytes too", refusesImages("stream in a text")),
    edits("streams where the field says so"),
  ],
  "2.7 other provider fields": [images("passes the call on under the upstream's name")],

  "2.8 text": [chatTurns],
  "2.8 image_url": [
    proof("test/conformance/official-sdks/openai-chat.test.ts", "openai 7 sends an image"),
    proof(
      "test/unit/proxy/formats/chat-completions/translate/request/read/read-messages.test.ts",
      "content reads a picture as data, with its detail",
      "content reads a picture's address given bare",
    ),
  ],

  "2.9 model": [embeddings("refuses a call of a model for chat", "passes the call on under the upstream's name")],
  "2.9 input": [embeddings("refuses a call without input", "takes 2,048 texts", "refuses a call with 2,049 texts")],
  "2.9 encoding_format": [
    embeddings(
      "an upstream that sends float to a client that asked for base64 is encoded as asked",
      "an upstream that sends base64 to a client that asked for nothing is encoded as asked",
      "refuses a call in an encoding that nobody knows",
    ),
  ],
  "2.9 dimensions": [embeddings("refuses a call with 0 dimensions", "refuses a call with half a dimension")],
  "2.10 model": [speech("passes the call on under the upstream's name", "a call without a model", "a model for chat")],
  "2.10 input": [speech("a call without input", "input that is no text"), speechCharges],
  "2.10 voice": [speech("and a call without a voice", "a voice that is a number", "a voice of the account")],
  "2.10 instructions": [speech("takes a speed at both edges of its range, metadata and style")],
  "2.10 response_format": [
    speech("names the type of mp3", "names the type of wav", "passes a vendor's JSON", "a format that is no text"),
  ],
  "2.10 speed": [speech("takes a speed at both edges of its range", "a speed below 0.25", "a speed above 4")],
  "2.10 stream_format": [speech("passes events as they are", "wraps the bytes of an upstream that knows no events")],
  "2.10 metadata": [speech("takes a speed at both edges of its range, metadata and style")],

  "2.9 query": [
    rerank("a call without a query", "a call with an empty query", "gives Jina's form of a ranking by Jina, sorted"),
  ],
  "2.9 documents": [
    rerank(
      "a call without documents",
      "a call with no document",
      "gives documents that are objects back as they were sent",
    ),
  ],

  "2.11 store": [privacy("store true passes by default", "store true becomes false where a channel disables it")],
  "2.11 safety_identifier": [
    privacy("safety_identifier is filtered out unless a channel allows it", "passes where a channel allows it"),
  ],
  "2.11 stream_options.include_obfuscation": [
    privacy(
      "include_obfuscation true is filtered out by default",
      "include_obfuscation passes where a channel allows it",
    ),
  ],
  "2.11 metadata": [
    privacy("metadata and user pass by default", "metadata and user are stripped where a channel says so"),
  ],

  "4 POST {base_url}/chat/completions": [endpoint("POST /v1/chat/completions is served")],
  "4 POST {base_url_b}/v1/messages": [endpoint("POST /v1/messages is served")],
  "4 rule 1": [endpoint("a model that is not offered is 404 in the shape of ChatCompletions")],
  "4 rule 2": [
    endpoint("a body of Messages sent to ChatCompletions is told its own address"),
    endpoint("a body of ChatCompletions sent to Messages is told its own address"),
    endpoint("a body of ChatCompletions sent to GenerateContent is told its own address"),
  ],
  "4 rule 3": [
    endpoint("a minimal first call is enough for ChatCompletions", "a minimal first call is enough for Responses"),
  ],

  "5 rule 1": [
    keys("ChatCompletions without a key is told where to put it"),
    proof("test/security/authentication.test.ts", "refuses a prefix other than sk-"),
  ],
  "5 rule 2": [
    keys("refuses a key that nobody has", "refuses a key without the capability", "whose account is out of credit"),
  ],
  "5 rule 3": [keys("takes the key by Authorization", "takes the key by x-api-key", "takes the key by x-goog-api-key")],
  "5 A": [
    keys("ChatCompletions takes the key by Authorization"),
    proof(
      "test/security/authentication.test.ts",
      "refuses a lower-case scheme",
      "refuses two spaces",
      "refuses no scheme",
    ),
  ],
  "5 B": [keys("Messages takes the key by x-api-key", "Messages takes the key by Authorization")],
  "5 B (version)": [headers("sends the interface's neutral spelling", "refuses two versions that differ")],
  "5 C": [keys("takes the key by x-vendorc-api-key", "takes the key by x-goog-api-key", "takes the key by ?key=")],
  "5 rule 4": [
    keys("refuses a key that nobody has", "refuses a disabled key", "refuses an expired key"),
    proof("test/security/authentication.test.ts", "refuses a request without any", "refuses no scheme"),
  ],
  "5 rule 5": [keys("refuses a key of another network", "refuses a key for other models")],
  "5 rule 6": [
    keys("refuses a key whose money of the month is used up", "refuses a key whose tokens of the day are used up"),
  ],
  "5 rule 7": [keys("ChatCompletions lets no browser in"), secrets],
  "5 rule 8": [pages("docs/how-to/clients.md, line")],
  "5 rule 9": [secrets],

  "7 401 Unauthorized": [keys("refuses a key that nobody has", "refuses a disabled key", "refuses an expired key")],
  "7 403 Forbidden": [keys("refuses a key of another network", "refuses a key for other models")],
  "7 insufficient quota": [keys("refuses a key whose account is out of credit", "whose money of the month is used up")],
  "7 parameter error": [
    proof(`${here}/limits.test.ts`, "is refused where the model does not support it and the channel rejects it"),
    proof(`${here}/route-parameters.test.ts`, "is refused by its own name where the channel rejects"),
  ],
  "7 A client that": [
    endpoint("GET /models lists in the shape of A", "GET /v1/models lists in the shape of A"),
    endpoint("GET /v1/v1/models lists in the shape of A"),
  ],

  "8 speed": [speech("takes a speed at both edges of its range", "a speed below 0.25", "a speed above 4")],
  "8 top_logprobs": [chat("top_logprobs"), responses("top_logprobs")],
  "8 frequency_penalty, presence_penalty": [chat("frequency_penalty", "presence_penalty")],
  "8 temperature": [chat("temperature"), messages("temperature"), contents("generationConfig.temperature")],
  "8 top_p": [chat("top_p"), messages("top_p"), contents("generationConfig.topP")],
  "8 Output token caps": [
    chat("max_tokens", "max_completion_tokens"),
    proof(`${here}/limits.test.ts`, "a route narrows max_tokens of ChatCompletions"),
  ],
  "8 Per-key quota ceiling": [keys("refuses a key whose money of the month is used up")],
  "8 Cost scales with": [
    proof(`${channels}/output-cap-through-gateway.test.ts`, "reserves for the candidates that a rule asks for"),
    proof(`${here}/estimated-prompts.test.ts`, "are charged within 25 % for ten pictures"),
  ],

  "4 POST {base_url}/images/generations": [
    images("POST /v1/images/generations passes", "POST /images/generations passes"),
  ],
  "4 POST {base_url}/images/edits": [edits("POST /v1/images/edits sends the form on with its files")],
  "8 n for image generation": [imageCount],
  "8 output_compression": [compression],
  "9 Protocol A is": [
    endpoint("POST /v1/chat/completions is served", "POST /v1/messages is served"),
    endpoint("POST /v1beta/models/demo:generateContent is served"),
  ],
  "9 Protocol B requests": [
    headers("sends the interface's neutral spelling", "sends the oldest version where none is given"),
  ],
};

/** Rows whose tests come with endpoints that are being built: each is a failure. */
export const missing: readonly string[] = [];
