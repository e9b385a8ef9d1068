/**
 * docs/design/reliability.md G1: an upstream that cannot be reached costs at most the connect timeout, then the next
 * target serves.
 */
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createServer as createTcpServer, type Server } from "node:net";
import { after, before, describe, it } from "mocha";
import { reply } from "#test/support/resilience/byte-upstream";
import { formatNamed, formatOf, formats } from "#test/support/resilience/formats";
import { apiKey, channel, route, secret } from "#test/support/resilience/manifests";
import { type Rig, startRig } from "#test/support/resilience/rig";
import { waitFor } from "#test/support/wait-for";

const connectMs = 400;

/** A listener whose queue is full and that never accepts: SYNs go unanswered. */
async function startBlackhole(): Promise<{ readonly process: ChildProcess; readonly port: number }> {
  const program = `
import socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(0)
port = s.getsockname()[1]
held = []
for _ in range(8):
    c = socket.socket(); c.setblocking(False)
    try: c.connect(("127.0.0.1", port))
    except BlockingIOError: pass
    held.append(c)
print(port, flush=True)
sys.stdin.read()
`;
  const process = spawn("python3", ["-c", program], { stdio: ["pipe", "pipe", "inherit"] });
  let text = "";
  process.stdout?.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  const port = await waitFor("the blackhole to listen", () => /^[0-9]+\n/.test(text) && Number(text));
  return { process, port };
}

function hasPython(): boolean {
  try {
    execFileSync("python3", ["-c", "1"]);
    return true;
  } catch {
    return false;
  }
}

describe("an upstream that cannot be reached", function () {
  this.timeout(60_000);
  let rig: Rig;
  let blackhole: Awaited<ReturnType<typeof startBlackhole>> | undefined;
  let notTls: Server;
  let closing: Server;

  const unreachable: readonly {
    readonly name: string;
    readonly model: string;
    readonly status: number;
    readonly atMost: number;
    /** What whoever runs the gateway finds in the log. */
    readonly logged: string;
  }[] = [
    { name: "refused", model: "refused", status: 502, atMost: 300, logged: "ECONNREFUSED" },
    {
      name: "that never accepts",
      model: "blackhole",
      status: 504,
      atMost: connectMs + 300,
      logged: "connect-timeout",
    },
    { name: "that speaks no TLS", model: "tls", status: 502, atMost: connectMs + 300, logged: "ERR_SSL" },
    {
      name: "whose name does not resolve",
      model: "dns",
      status: 502,
      atMost: connectMs + 300,
      logged: "ENOTFOUND|EAI_AGAIN",
    },
    {
      name: "that accepts and closes at once",
      model: "closing",
      status: 502,
      atMost: 300,
      logged: "closed|ECONNRESET|ended",
    },
  ];

  before(async function () {
    if (!hasPython()) {
      console.log("      upstream-unreachable: SKIPPED, no python3 to keep a listener from accepting");
      this.skip();
    }
    blackhole = await startBlackhole();
    notTls = createTcpServer((socket) => {
      socket.on("error", () => undefined);
      socket.on("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    });
    closing = createTcpServer((socket) => socket.on("error", () => undefined).destroy());
    await new Promise<void>((resolve) => notTls.listen(0, "127.0.0.1", resolve));
    await new Promise<void>((resolve) => closing.listen(0, "127.0.0.1", resolve));
    const portOf = (server: Server): number => {
      const address = server.address();
      return typeof address === "object" && address !== null ? address.port : 0;
    };
    const timeouts = { timeouts: { connect: `${connectMs}ms` } };
    rig = await startRig({
      objects: ([port = 0]) => [
        secret(),
        apiKey("main"),
        channel("good", port),
        channel("refused", 1, timeouts),
        channel("blackhole", blackhole?.port ?? 0, timeouts),
        channel("tls", `https://127.0.0.1:${portOf(notTls)}`, timeouts),
        channel("dns", "http://no-such-host.invalid", timeouts),
        channel("closing", portOf(closing), timeouts),
        ...unreachable.flatMap(({ model }) => [
          route(model, [model, "good"]),
          route(`${model}-only`, [model], {
            limits: [{ name: "rate", unit: "Requests", limit: "1000", period: "Day" }],
          }),
        ]),
      ],
      served: ["main", "dns-only"],
    });
    rig.upstream.replyWith(({ socket, head }) => {
      socket.write(reply(formatOf(head).reply()));
    });
  });

  after(async () => {
    blackhole?.process.stdin?.end();
    notTls?.close();
    closing?.close();
    await rig?.close();
  });

  for (const { name, model, status, atMost, logged } of unreachable) {
    it(`is followed by the next target: one ${name}`, async () => {
      const format = formatNamed("ChatCompletions");
      const answer = await rig.call({ format, model, stream: false });
      assert.equal(answer.status, 200);
      console.log(`      ${model}: answered by the next target after ${Math.round(answer.tookMs)} ms, limit ${atMost}`);
      assert.ok(answer.tookMs <= atMost, `took ${answer.tookMs} ms`);
      const told = await waitFor("the line of the failed attempt", () =>
        rig.gateway.logs
          .split("\n")
          .find((line) => line.includes("an attempt on an upstream failed") && line.includes(`default/${model}"`)),
      );
      assert.match(told, new RegExp(logged));
    });

    it(`is ${status} in the shape of each format where it is the only target: one ${name}`, async () => {
      for (const format of formats) {
        for (const stream of [false, true]) {
          const answer = await rig.call({ format, model: `${model}-only`, stream });
          assert.equal(answer.status, status, answer.text);
          assert.match(answer.header("content-type") ?? "", /json/);
          assert.notEqual(format.errorType(answer.json()), "undefined");
          assert.doesNotMatch(answer.text, /127\.0\.0\.1|ECONN|invalid\b.*host|undici/i);
        }
      }
    });
  }
});
