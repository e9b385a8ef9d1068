// Asks every proxy, one call after the other, whether a key is still served. GET /: when each served it last.
import { createServer } from "node:http";

const { TARGETS, KEY } = process.env;
const proxies = TARGETS.split(",").map((target) => ({ target, lastServedMs: 0, isRefused: false }));

for (const proxy of proxies) void follow(proxy);

async function follow(proxy) {
  for (;;) {
    const startedMs = Date.now();
    try {
      const reply = await fetch(`${proxy.target}/v1/models`, {
        headers: { authorization: `Bearer ${KEY}` },
        signal: AbortSignal.timeout(5_000),
      });
      await reply.arrayBuffer();
      // Judged by when it was asked: an answer on its way was admitted before.
      if (reply.status === 200) proxy.lastServedMs = startedMs;
      proxy.isRefused = reply.status === 401;
    } catch {
      // A proxy that leaves says nothing about the key.
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

createServer((_request, response) => {
  response.end(
    JSON.stringify({
      isServed: proxies.every(({ lastServedMs }) => lastServedMs > 0),
      isRefused: proxies.every(({ isRefused }) => isRefused),
      lastServedMs: proxies.map(({ lastServedMs }) => lastServedMs),
    }),
  );
}).listen(8000, "0.0.0.0");
process.on("SIGTERM", () => process.exit(0));
