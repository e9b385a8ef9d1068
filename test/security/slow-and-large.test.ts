/** docs/design/reliability.md F1 to F3, F5 and F6 on the wire, with waits scaled down by the program's own settings. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { RawClient } from "#test/support/raw-client";
import { waitFor } from "#test/support/wait-for";
import { chatBody, chunked, forbiddenMark, goodRequest, rawRequest } from "./rig/raw-request.ts";
import { assertNoSecret, errorCode, expectServed, figure, naturalReply, type Rig, useRig } from "./rig/rig.ts";

const MiB = 1024 * 1024;

describe("F1: slow clients", function () {
  this.timeout(30_000);
  const rig = useRig({
    flags: [
      "--timeouts-headers=500ms",
      "--timeouts-body-idle=500ms",
      "--timeouts-body=1500ms",
      "--timeouts-connections-check=100ms",
      "--timeouts-slow-reader=500ms",
    ],
  });
  const count = 50;

  /** Opens slow clients, sees them all closed in time, and other clients served as fast as without them. */
  async function attack(
    name: string,
    run: (client: RawClient, state: { isOver: boolean }) => Promise<void>,
    limitMs: number,
  ): Promise<void> {
    const calm = await timesOf(rig(), 30);
    const state = { isOver: false };
    const clients = await Promise.all(Array.from({ length: count }, () => rig().connect()));
    const startedMs = performance.now();
    const running = clients.map((client) => run(client, state));
    const busy = await timesOf(rig(), 30);
    await Promise.all(running);
    const tookMs = performance.now() - startedMs;
    state.isOver = true;
    for (const client of clients) client.close();
    figure(`F1 ${name}: closed after`, tookMs, limitMs, "ms");
    figure(`F1 ${name}: others' p90`, busy, Math.max(2 * calm, 10), "ms");
    assert.ok(tookMs <= limitMs * 2);
    assert.ok(busy <= Math.max(4 * calm, 50));
  }

  it("that send their headers slowly get 408 and are closed", () =>
    attack(
      "slow headers",
      async (client, state) => {
        await drip(
          client,
          state,
          "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n".concat("X-A: 1\r\n".repeat(200)),
          25,
        );
        await closed(client, 408);
      },
      1_500,
    ));

  it("that send nothing are closed", () => attack("silence", (client) => closed(client, 408), 1_500));

  it("that send their body slowly are closed when the whole takes too long", () =>
    attack(
      "slow body",
      async (client, state) => {
        client.write(
          rawRequest({
            framing: "none",
            body: "",
            headers: ["Content-Type: application/json", "Content-Length: 5000"],
          }),
        );
        await drip(client, state, `{"model":"${"a".repeat(4_000)}`, 50);
        await closed(client, 408);
      },
      2_500,
    ));

  it("that stop inside their body are closed", () =>
    attack(
      "idle body",
      async (client) => {
        client.write(
          rawRequest({
            framing: "none",
            body: '{"model":',
            headers: ["Content-Length: 5000"],
          }),
        );
        await closed(client, 408);
      },
      1_500,
    ));

  it("that stop inside a chunk are closed", () =>
    attack(
      "idle chunk",
      async (client) => {
        client.write(
          rawRequest({
            framing: "none",
            body: "fff\r\n{",
            headers: ["Transfer-Encoding: chunked"],
          }),
        );
        await closed(client, 408);
      },
      1_500,
    ));

  it("that do not read their stream are cut, and the upstream with them", async () => {
    const event = `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: "y".repeat(60_000) } }] })}\n\n`;
    rig().upstream.replyWith({
      headers: { "content-type": "text/event-stream" },
      // More than the kernel may take for a client that reads nothing (tens of megabytes on some machines).
      body: event.repeat(1_500),
      fragmentBytes: event.length,
    });
    const before = rig().upstream.requests.length;
    try {
      const client = await rig().connect();
      client.socket.pause();
      client.write(rawRequest({ body: JSON.stringify({ ...JSON.parse(chatBody()), stream: true }) }));
      const startedMs = performance.now();
      await waitFor("the upstream to see the close", () => rig().upstream.requests[before]?.abortedAtMs, {
        deadlineMs: 10_000,
      });
      figure("F1 slow reader: upstream closed after", performance.now() - startedMs, 5_000, "ms");
      client.close();
    } finally {
      rig().upstream.replyWith(naturalReply);
    }
  });
});

/** Sends byte by byte until the other side ends. */
async function drip(client: RawClient, state: { isOver: boolean }, text: string, everyMs: number): Promise<void> {
  let position = 0;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (client.isEnded || state.isOver || client.received.length > 0 || position >= text.length) {
        clearInterval(timer);
        resolve();
        return;
      }
      client.write(text.charAt(position));
      position += 1;
    }, everyMs);
  });
}

async function closed(client: RawClient, status: number): Promise<void> {
  const response = await client.readResponse(8_000);
  assertNoSecret(response);
  assert.equal(response.status, status);
  await client.readToEnd();
}

/** 90th percentile of the time that good calls take. */
async function timesOf(rig: Rig, count: number): Promise<number> {
  const client = await rig.connect();
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const startedMs = performance.now();
    client.write(goodRequest("calm"));
    await expectServed(rig, client, "calm");
    times.push(performance.now() - startedMs);
  }
  client.close();
  return times.toSorted((one, two) => one - two)[Math.floor(count * 0.9)] ?? 0;
}

describe("F2, F3: large bodies and heads", function () {
  this.timeout(30_000);
  const rig = useRig({ flags: ["--limits-json-body=1MiB"] });
  const sized = (bytes: number, text: string): string => {
    const body = chatBody("open-a", text);
    return body.slice(0, -1).concat(`,"x":"${"a".repeat(bytes - body.length - 7)}"}`);
  };

  it("a body of the limit is served", async () => {
    const body = sized(MiB, "fine");
    assert.equal(body.length, MiB);
    assert.equal((await rig().exchange(rawRequest({ body }))).status, 200);
    const client = await rig().connect();
    client.write(
      rawRequest({
        framing: "none",
        body: "",
        headers: ["Content-Type: application/json", "Transfer-Encoding: chunked"],
      }),
    );
    client.write(chunked(body, 10_000));
    assert.equal((await client.readResponse()).status, 200);
    client.close();
  });

  for (const [name, bytes] of [
    ["one byte more", rawRequest({ body: sized(MiB + 1, forbiddenMark) })],
    ["ten times the limit", rawRequest({ body: sized(10 * MiB, forbiddenMark) })],
    [
      "1 GB declared",
      rawRequest({
        framing: "none",
        body: "{",
        headers: ["Content-Length: 1000000000"],
      }),
    ],
    [
      "one byte more in chunks",
      Buffer.concat([
        rawRequest({
          framing: "none",
          body: "",
          headers: ["Content-Type: application/json", "Transfer-Encoding: chunked"],
        }),
        chunked(sized(MiB + 1, forbiddenMark), 60_000),
      ]),
    ],
  ] as const) {
    it(`${name} is 413, and the connection ends`, async () => {
      const client = await rig().connect();
      client.write(bytes);
      const response = await client.readResponse();
      assert.deepEqual(
        [response.status, errorCode(response), response.header("connection")],
        [413, "request_too_large", "close"],
      );
      assert.equal((await client.readToEnd()).length, 0);
      client.close();
    });
  }

  it("chunks for ever are 413 soon after the limit", async () => {
    const client = await rig().connect();
    client.write(
      rawRequest({
        framing: "none",
        body: "",
        headers: ["Content-Type: application/json", "Transfer-Encoding: chunked"],
      }),
    );
    const piece = Buffer.from(`10000\r\n${"a".repeat(65_536)}\r\n`);
    let sent = 0;
    while (client.received.length === 0 && !client.isEnded && sent < 100) {
      client.write(piece);
      sent += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal((await client.readResponse()).status, 413);
    client.close();
  });

  for (const [name, headers, status] of [
    ["one header of 64 KB", [`X-A: ${"a".repeat(65_536)}`], 431],
    ["headers of 17 KB together", Array.from({ length: 17 }, (_, index) => `X-${index}: ${"a".repeat(1_000)}`), 431],
    ["one name of 20 KB", [`${"a".repeat(20_000)}: x`], 431],
  ] as const) {
    it(`${name} is ${status}`, async () => {
      const client = await rig().connect();
      client.write(rawRequest({ headers }));
      const response = await client.readResponse();
      assert.equal(response.status, status);
      assert.equal((await client.readToEnd()).length, 0);
      client.close();
    });
  }

  it("a head of 15 KB is served", async () => {
    const headers = Array.from({ length: 15 }, (_, index) => `X-${index}: ${"a".repeat(1_000)}`);
    assert.equal((await rig().exchange(rawRequest({ headers, body: chatBody() }))).status, 200);
  });
});

describe("F5: pipelines", function () {
  this.timeout(30_000);
  const rig = useRig();

  for (const [count, isServed] of [
    [60, true],
    [1_000, false],
  ] as const) {
    it(`of ${count} requests run one at a time${isServed ? "" : ", and end rather than grow"}`, async () => {
      let open = 0;
      let openMax = 0;
      rig().upstream.replyWith(async (request) => {
        open += 1;
        openMax = Math.max(openMax, open);
        await new Promise((resolve) => setTimeout(resolve, 2));
        open -= 1;
        return naturalReply(request);
      });
      try {
        const client = await rig().connect();
        client.write(Buffer.concat(Array.from({ length: count }, () => goodRequest("piped"))));
        if (isServed) for (let index = 0; index < count; index += 1) await expectServed(rig(), client, "piped");
        else {
          await expectServed(rig(), client, "piped");
          await client.readToEnd();
        }
        client.close();
        figure(`F5 executed at once of ${count}`, openMax, 1, "requests");
        assert.ok(openMax <= 1);
      } finally {
        rig().upstream.replyWith(naturalReply);
      }
    });
  }

  it("whose answers are never read end with at most 1 MB waiting", async () => {
    const answer = JSON.stringify({
      id: "x",
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: "z".repeat(400_000) }, finish_reason: "stop" }],
    });
    const before = rig().upstream.requests.length;
    rig().upstream.replyWith({ body: answer });
    try {
      const client = await rig().connect();
      client.socket.pause();
      client.write(Buffer.concat(Array.from({ length: 60 }, () => goodRequest("unread"))));
      let seen = -1;
      // Stable for a while: no more are executed for a client that reads nothing.
      await waitFor(
        "no further request upstream",
        async () => {
          const now = rig().upstream.requests.length - before;
          const isStable = now === seen && now > 0;
          seen = now;
          await new Promise((resolve) => setTimeout(resolve, 500));
          return isStable;
        },
        { deadlineMs: 15_000 },
      );
      figure("F5 executed for a client that reads nothing", seen, 30, "requests");
      assert.ok(seen < 60, "every request was executed although no answer was read");
      client.close();
    } finally {
      rig().upstream.replyWith(naturalReply);
    }
  });
});

describe("F6: bytes in flight", function () {
  this.timeout(30_000);
  const rig = useRig({ flags: ["--limits-in-flight-bytes=2MiB", "--limits-json-body=1MiB"] });

  it("beyond the cap are 503 at once, and room comes back", async () => {
    const hold = rawRequest({
      framing: "none",
      body: `{"x":"${"a".repeat(1_000_000)}`,
      headers: ["Content-Length: 1040000"],
    });
    const holders = await Promise.all([rig().connect(), rig().connect()]);
    await Promise.all(holders.map((holder) => new Promise((resolve) => holder.socket.write(hold, resolve))));
    // What the kernel has taken, the gateway has read once it has turned to others a few times.
    for (let turn = 0; turn < 50; turn += 1) await rig().exchange(rawRequest({ method: "GET", target: "/nowhere" }));
    const body = chatBody("open-a", "a".repeat(200_000));
    const { response, tookMs } = await waitFor("the cap to be reached", async () => {
      const client = await rig().connect();
      const startedMs = performance.now();
      client.write(rawRequest({ body }));
      const answer = await client.readResponse();
      client.close();
      return answer.status === 503 ? { response: answer, tookMs: performance.now() - startedMs } : undefined;
    });
    assert.deepEqual([errorCode(response), response.header("retry-after")], ["overloaded", "1"]);
    figure("F6 answer beyond the cap", tookMs, 10, "ms");
    assert.ok(tookMs < 100);
    for (const holder of holders) holder.close();
    await waitFor("room again", async () => (await rig().exchange(rawRequest({ body }))).status === 200);
  });

  it("leaves no bytes counted after refusals and aborts", async () => {
    for (let round = 0; round < 30; round += 1) {
      const client = await rig().connect();
      client.write(
        rawRequest({
          framing: "none",
          body: "{".padEnd(300_000),
          headers: ["Content-Length: 900000"],
        }),
      );
      await new Promise((resolve) => setImmediate(resolve));
      client.reset();
      await rig().exchange(rawRequest({ body: `{"x":${"[".repeat(200_000)}` }));
    }
    await waitFor(
      "room again",
      async () => (await rig().exchange(rawRequest({ body: chatBody("open-a", "a".repeat(800_000)) }))).status === 200,
    );
  });
});
