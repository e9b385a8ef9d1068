// Steady load from inside the cluster: requests at a rate and streams that are always open, counted until told to stop.
// GET /stats: the counts. POST /stop: no new calls; answers when the last stream has ended.
import { Agent, createServer, request } from "node:http";

const { TARGET, KEY, RATE = "200", STREAMS = "50", FAST_MODEL = "demo", SLOW_MODEL = "slow" } = process.env;
const address = new URL(TARGET);
const agent = new Agent({ keepAlive: true, maxSockets: 64, scheduling: "fifo" });
const streamAgent = new Agent({ keepAlive: false });
const counts = { requests: 0, failed: 0, streams: 0, cut: 0, openStreams: 0, openRequests: 0, slowestMs: 0 };
const failures = [];
let isStopping = false;

function fail(kind, detail) {
  counts[kind] += 1;
  if (failures.length < 50) failures.push({ at: new Date().toISOString(), kind, ...detail });
}

/** Calls `done` once, with the status, the text and what went wrong, if anything. */
function call(body, callAgent, done) {
  const payload = JSON.stringify(body);
  const startedMs = performance.now();
  let isDone = false;
  const end = (result) => {
    if (isDone) return;
    isDone = true;
    done({ ...result, tookMs: performance.now() - startedMs });
  };
  const outgoing = request(
    {
      host: address.hostname,
      port: address.port || 80,
      method: "POST",
      path: "/v1/chat/completions",
      agent: callAgent,
      headers: {
        authorization: `Bearer ${KEY}`,
        "content-type": "application/json",
        "content-length": Buffer.byteLength(payload),
      },
    },
    (reply) => {
      let text = "";
      reply.setEncoding("utf8");
      reply.on("data", (piece) => {
        text += piece;
      });
      reply.on("end", () => end({ status: reply.statusCode, text, isWhole: reply.complete }));
      reply.on("error", (error) => end({ status: reply.statusCode, text, error: error.code ?? error.message }));
    },
  );
  outgoing.setTimeout(60_000, () => outgoing.destroy(new Error("silent for a minute")));
  outgoing.on("error", (error) => end({ error: error.code ?? error.message }));
  outgoing.end(payload);
}

function oneRequest() {
  counts.openRequests += 1;
  call({ model: FAST_MODEL, messages: [{ role: "user", content: "ping" }] }, agent, (result) => {
    counts.openRequests -= 1;
    counts.requests += 1;
    counts.slowestMs = Math.max(counts.slowestMs, Math.round(result.tookMs));
    const isGood = result.status === 200 && result.isWhole === true && result.text.includes("You said: ping");
    if (!isGood) fail("failed", { ...result, text: result.text?.slice(0, 200) });
  });
}

const words = "one two three four five six seven eight nine ten ".repeat(6).trim();

function oneStream() {
  if (isStopping) return;
  counts.openStreams += 1;
  const body = { model: SLOW_MODEL, stream: true, messages: [{ role: "user", content: words }] };
  call(body, streamAgent, (result) => {
    counts.openStreams -= 1;
    counts.streams += 1;
    const isGood = result.status === 200 && result.isWhole === true && /data: \[DONE\]\s*$/.test(result.text);
    if (!isGood) fail("cut", { ...result, text: result.text?.slice(-200) });
    // After a failure not at once, or a broken gateway would be stormed.
    setTimeout(oneStream, isGood ? 0 : 250);
  });
}

const everyMs = 20;
let owed = 0;
const ticker = setInterval(() => {
  owed += (Number(RATE) * everyMs) / 1000;
  for (; owed >= 1; owed -= 1) if (counts.openRequests < 2_000) oneRequest();
}, everyMs);
for (let index = 0; index < Number(STREAMS); index += 1) setTimeout(oneStream, index * 100);

createServer((incoming, response) => {
  const answer = () => response.end(JSON.stringify({ ...counts, failures }));
  if (incoming.method === "GET") return answer();
  isStopping = true;
  clearInterval(ticker);
  const wait = setInterval(() => {
    if (counts.openStreams + counts.openRequests > 0) return;
    clearInterval(wait);
    answer();
  }, 50);
}).listen(8000, "0.0.0.0");
process.on("SIGTERM", () => process.exit(0));
