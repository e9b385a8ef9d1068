// One call and one stream in each of the three protocols, as their clients send them. Prints a JSON line for each.
const { TARGET, KEY } = process.env;

const question = "Hello!";
const calls = [
  {
    name: "chat completions",
    path: "/v1/chat/completions",
    headers: { authorization: `Bearer ${KEY}` },
    body: { model: "demo", messages: [{ role: "user", content: question }] },
    stream: { stream: true },
  },
  {
    name: "responses",
    path: "/v1/responses",
    headers: { authorization: `Bearer ${KEY}` },
    body: { model: "demo", input: question },
    stream: { stream: true },
  },
  {
    name: "messages",
    path: "/v1/messages",
    headers: { "x-api-key": KEY, "anthropic-version": "2023-06-01" },
    body: { model: "demo", max_tokens: 100, messages: [{ role: "user", content: question }] },
    stream: { stream: true },
  },
  {
    name: "generate content",
    path: "/v1beta/models/demo:generateContent",
    streamPath: "/v1beta/models/demo:streamGenerateContent?alt=sse",
    headers: { "x-goog-api-key": KEY },
    body: { contents: [{ role: "user", parts: [{ text: question }] }] },
    stream: {},
  },
];

for (const { name, path, streamPath, headers, body, stream } of calls)
  for (const isStream of [false, true]) {
    const reply = await fetch(`${TARGET}${isStream && streamPath ? streamPath : path}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(isStream ? { ...body, ...stream } : body),
      signal: AbortSignal.timeout(20_000),
    });
    const text = await reply.text();
    const type = reply.headers.get("content-type");
    console.log(JSON.stringify({ name, isStream, status: reply.status, type, text: text.slice(0, 20_000) }));
  }
