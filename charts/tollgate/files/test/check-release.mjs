// `helm test`: is what was installed reachable and of one mind? Ends with 0, or 1 and the reason.
import { lookup } from "node:dns/promises";

const [dataAddress, operatorHost] = process.argv.slice(2);

async function check(what, look) {
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      await look();
      console.log(`ok    ${what}`);
      return;
    } catch (error) {
      if (Date.now() > deadline) {
        console.log(`FAILED  ${what}: ${error.cause?.message ?? error.message}`);
        process.exit(1);
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

function expect(found, wanted, what) {
  if (found !== wanted) throw new Error(`${what} is ${found}, not ${wanted}`);
}

/** Of every replica: each serves some of the proxies. */
async function askOperators(path) {
  const addresses = await lookup(operatorHost, { all: true });
  return Promise.all(
    addresses.map(async ({ address, family }) => {
      const host = family === 6 ? `[${address}]` : address;
      const reply = await fetch(`http://${host}:9091${path}`, { signal: AbortSignal.timeout(5_000) });
      expect(reply.status, 200, `the status of ${path}`);
      return reply.text();
    }),
  );
}

await check("every operator is ready", () => askOperators("/readyz"));

await check("proxies are connected and hold the configuration", async () => {
  const counts = (await askOperators("/metrics")).map(
    (text) => /^tollgate_fleet_ready_proxies (\d+)$/m.exec(text)?.[1],
  );
  if (!counts.some((count) => Number(count) > 0)) throw new Error("no proxy has acknowledged the configuration");
});

// A certificate for another host name than the Service's is no concern of this test.
if (dataAddress.startsWith("https:")) process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";

await check("a proxy answers, and refuses whoever has no key", async () => {
  const reply = await fetch(`${dataAddress}/v1/models`, { signal: AbortSignal.timeout(5_000) });
  expect(reply.status, 401, "the status of a call without a key");
  const { error } = await reply.json();
  expect(typeof error?.message, "string", "the type of the error's message");
});
