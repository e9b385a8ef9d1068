/**
 * The calls that `npm start` shows: one for each protocol of chat and one for each further capability, against the models
 * of `examples/quickstart`. They can be pasted in this order into one shell: the picture that is made is edited, and
 * what is spoken is transcribed. Realtime needs a WebSocket and is shown in `docs/how-to/capabilities.md`.
 */

export interface QuickstartCall {
  readonly title: string;
  /** For a shell with curl; of one or more lines. */
  readonly command: string;
}

/**
 * @param address of the data port, `http://host:port`
 * @param key in clear: who reads this has started the gateway
 */
export function quickstartCalls(address: string, key: string): readonly QuickstartCall[] {
  const bearer = `authorization: Bearer ${key}`;
  const json = (path: string, body: object, header = bearer): string =>
    `curl -s ${address}${path} -H '${header}' -H 'content-type: application/json' \\\n  -d '${JSON.stringify(body)}'`;
  const form = (path: string, ...fields: readonly string[]): string =>
    `curl -s ${address}${path} -H '${bearer}' \\\n  ${fields.map((field) => `-F ${field}`).join(" ")}`;
  const messages = [{ role: "user", content: "Hello!" }];
  const saveImage = (name: string): string =>
    ` \\\n  | grep -o '"b64_json": *"[^"]*' | cut -d '"' -f 4 | base64 -d > ${name} && ls -l ${name}`;
  return [
    { title: "OpenAI-style", command: json("/v1/chat/completions", { model: "gpt-5-mini", messages }) },
    {
      title: "Anthropic-style",
      command: json("/v1/messages", { model: "claude-sonnet-4-5", max_tokens: 100, messages }, `x-api-key: ${key}`),
    },
    {
      title: "Gemini-style",
      command: json(
        "/v1beta/models/gemini-2.5-flash:generateContent",
        { contents: [{ parts: [{ text: "Hello!" }] }] },
        `x-goog-api-key: ${key}`,
      ),
    },
    {
      title: "Picture",
      command:
        json("/v1/images/generations", { model: "demo-image", prompt: "A lighthouse at dawn" }) +
        saveImage("lighthouse.png"),
    },
    {
      title: "Edit of a picture",
      command:
        form("/v1/images/edits", "model=demo-image", "'prompt=Make it night'", "image=@lighthouse.png") +
        saveImage("night.png"),
    },
    {
      title: "Speech",
      command: `${json("/v1/audio/speech", {
        model: "demo-speech",
        input: "Hello from Tollgate",
        voice: "alloy",
        response_format: "wav",
      })} -o hello.wav && ls -l hello.wav`,
    },
    {
      title: "Transcription",
      command: form("/v1/audio/transcriptions", "model=demo-transcription", "file=@hello.wav"),
    },
    { title: "Translation", command: form("/v1/audio/translations", "model=demo-transcription", "file=@hello.wav") },
    {
      title: "Embedding",
      command: json("/v1/embeddings", { model: "demo-embedding", input: "Hello!", dimensions: 8 }),
    },
    {
      title: "Rerank",
      command: json("/v1/rerank", {
        model: "demo-rerank",
        query: "rotate a key",
        documents: ["lighthouses", "rotating keys"],
      }),
    },
    { title: "Moderation", command: json("/v1/moderations", { model: "demo-moderation", input: "Good morning!" }) },
    { title: "Completion", command: json("/v1/completions", { model: "demo-completion", prompt: "Once upon a time" }) },
    {
      title: "Token count",
      command: json("/v1/messages/count_tokens", { model: "claude-sonnet-4-5", messages }, `x-api-key: ${key}`),
    },
    { title: "Models", command: `curl -s ${address}/v1/models -H '${bearer}'` },
  ];
}
