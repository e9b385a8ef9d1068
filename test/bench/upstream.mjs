/**
 * The upstream of the benchmark: replies at once with a chat completion of about 1 KB, with vectors, with sound or
 * with a transcript, or streams 100 small chunks.
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
/** By first path segment; everything else is a chat completion. */
const replies = new Map([
  ["embedding", vectors(1, `[${numbers.join(",")}]`)],
  ["embeddings", vectors(100, `[${numbers.join(",")}]`)],
  ["embeddings-base64", vectors(100, `"${base64}"`)],
  ["transcription", Buffer.from(JSON.stringify({ text, usage: { type: "duration", seconds: 4 } }))],
]);
/** Three seconds, in nobody's format. */
const sound = Buffer.alloc(48 * 1024, 0xaa);
const chunk = (delta, finish) =>
  Buffer.from(
    `data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
  );
const first = chunk({ role: "assistant", content: "" }, null);
const middle = chunk({ content: " word and" }, null);
const last = Buffer.concat([
  chunk({}, "stop"),
  Buffer.from(`data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices: [], usage })}\n\n`),
  Buffer.from("data: [DONE]\n\n"),
]);

const server = createServer((request, response) => {
  request.on("data", () => {});
  request.on("end", () => {
    const [, segment] = request.url.split("/", 2);
    if (segment === "stream") stream(response);
    else if (segment === "speech") whole(response, sound, "audio/mpeg");
    else whole(response, replies.get(segment) ?? reply);
  });
});

function whole(response, body, type = "application/json") {
  response.writeHead(200, { "content-type": type, "content-length": body.length }).end(body);
}

function stream(response) {
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
