/**
 * The upstream of the benchmark: replies at once with a chat completion of about 1 KB, a text, vectors, a ranking, a picture,
 * sound or a transcript, or streams 100 small chunks.
 *
 * The first path segment picks the reply: `/reply/...`, `/stream/...`. It reads the whole request body. Plain
 * JavaScript without the project's code, so that it costs the same whatever is measured.
 */
import { createServer } from "node:http";

const chunkCount = 100;
const base = { id: "chatcmpl-bench", object: "chat.completion", created: 1_790_000_000, model: "bench-model" };
const usage = { prompt_tokens: 180, completion_tokens: 150, total_tokens: 330 };
const text = "The quick brown fox jumps over the lazy dog. ".repeat(16);
const reply = Buffer.from(
  JSON.stringify({
    ...base,
    choices: [
      { index: 0, message: { role: "assistant", content: text, refusal: null }, logprobs: null, finish_reason: "stop" },
    ],
    usage,
  }),
);
/** Vectors of 1,536 numbers as OpenAI writes them, the same in every run. */
const numbers = Array.from({ length: 1_536 }, (_, index) => Math.fround(Math.sin(index + 1) / 20).toPrecision(8));
const base64 = Buffer.from(Float32Array.from(numbers, Number).buffer).toString("base64");
const vectors = (count, vector) => {
  const items = Array.from(
    { length: count },
    (_, index) => `{"object":"embedding","index":${index},"embedding":${vector}}`,
  );
  const usage = `{"prompt_tokens":${count * 120},"total_tokens":${count * 120}}`;
  return Buffer.from(`{"object":"list","data":[${items.join(",")}],"model":"bench-model","usage":${usage}}`);
};
const textBase = { id: "cmpl-bench", object: "text_completion", created: 1_790_000_000 };
/** As OpenAI orders its members. */
const textOf = (text, finish, usage) => ({
  ...textBase,
  choices: [{ text, index: 0, logprobs: null, finish_reason: finish }],
  model: "bench-model",
  usage,
});
const ranking = (count) => ({
  model: "bench-model",
  object: "list",
  usage: { total_tokens: count * 120 },
  results: Array.from({ length: count }, (_, index) => ({ index, relevance_score: 1 / (index + 1) })),
});
const pictures = (picture) => ({
  created: 1_790_000_000,
  data: [picture],
  size: "1024x1024",
  quality: "high",
  usage: { input_tokens: 120, output_tokens: 4160, total_tokens: 4280 },
});
/** By first path segment; everything else is a chat completion. */
const replies = new Map([
  ["completion", Buffer.from(JSON.stringify(textOf(text, "stop", usage)))],
  ["picture-address", Buffer.from(JSON.stringify(pictures({ url: "https://pictures.example/1.png" })))],
  ["picture", Buffer.from(JSON.stringify(pictures({ b64_json: "iVBORw0K".repeat(175_000) })))],
  ["ranking", Buffer.from(JSON.stringify(ranking(100)))],
  ["embedding", vectors(1, `[${numbers.join(",")}]`)],
  ["embeddings", vectors(100, `[${numbers.join(",")}]`)],
  ["embeddings-base64", vectors(100, `"${base64}"`)],
  ["transcription", Buffer.from(JSON.stringify({ text, usage: { type: "duration", seconds: 4 } }))],
]);
/** Three seconds, in nobody's format. */
const sound = Buffer.alloc(48 * 1024, 0xaa);
const event = (data) => Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
const done = Buffer.from("data: [DONE]\n\n");
const chunkBase = { ...base, object: "chat.completion.chunk" };
const chunk = (delta, finish) => event({ ...chunkBase, choices: [{ index: 0, delta, finish_reason: finish }] });
/** By first path segment: the first event, the many between, and the last ones. */
const streams = new Map([
  [
    "stream",
    {
      first: chunk({ role: "assistant", content: "" }, null),
      middle: chunk({ content: " word and" }, null),
      last: Buffer.concat([chunk({}, "stop"), event({ ...chunkBase, choices: [], usage }), done]),
    },
  ],
  [
    "completion-stream",
    {
      first: event(textOf(" word", null, null)),
      middle: event(textOf(" word and", null, null)),
      last: Buffer.concat([event(textOf("", "stop", null)), event({ ...textBase, choices: [], usage }), done]),
    },
  ],
]);

const server = createServer((request, response) => {
  request.on("data", () => {});
  request.on("end", () => {
    const [, segment] = request.url.split("/", 2);
    const events = streams.get(segment);
    if (events !== undefined) stream(response, events);
    else if (segment === "speech") whole(response, sound, "audio/mpeg");
    else whole(response, replies.get(segment) ?? reply);
  });
});

function whole(response, body, type = "application/json") {
  response.writeHead(200, { "content-type": type, "content-length": body.length }).end(body);
}

function stream(response, { first, middle, last }) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(first);
  let sent = 0;
  const timer = setInterval(() => {
    sent += 1;
    if (response.destroyed) clearInterval(timer);
    else if (sent < chunkCount) response.write(middle);
    else {
      clearInterval(timer);
      response.end(last);
    }
  }, 2);
}

server.keepAliveTimeout = 75_000;
server.listen(0, "127.0.0.1", () => console.log(`listening ${server.address().port}`));
process.on("SIGTERM", () => process.exit(0));
