// Calls until a call is refused for its quota; what is not known yet is waited for. Prints how many were answered.
const { TARGET, KEY } = process.env;
const deadline = Date.now() + 60_000;
let admitted = 0;

for (;;) {
  const reply = await fetch(`${TARGET}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "demo", messages: [{ role: "user", content: "ping" }] }),
    signal: AbortSignal.timeout(10_000),
  }).catch(() => undefined);
  const body = await reply?.json();
  if (reply?.status === 200) admitted += 1;
  else if (body?.error?.code === "insufficient_quota") break;
  else await new Promise((resolve) => setTimeout(resolve, 200));
  if (Date.now() > deadline || admitted > 100) {
    console.log(JSON.stringify({ admitted, status: reply?.status, body }));
    process.exit(1);
  }
}
console.log(JSON.stringify({ admitted }));
