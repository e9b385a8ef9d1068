import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { afterEach, beforeEach, describe, it } from "mocha";
import { Pool } from "undici";
import { Attempt } from "../../../../proxy/forward/attempt.ts";
import { UndiciUpstream } from "../../../../proxy/forward/http1/undici-upstream.ts";
import { InFlightBytes } from "../../../../proxy/http/in-flight-bytes.ts";
import { defaultLimits } from "../../../../proxy/limits.ts";
import { chatCompletions } from "../../../../proxy/protocols/chat-completions/format.ts";
import { callOf } from "../../../support/digest/stream-call.ts";
import { within } from "../../../support/wait-for.ts";

describe("Attempt", () => {
  let server: Server;
  let pool: Pool;
  let origin = "";
  let requests = 0;

  beforeEach(async () => {
    requests = 0;
    server = createServer((_request, response) => {
      requests += 1;
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    origin = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
    pool = new Pool(origin);
  });

  afterEach(async () => {
    await pool.destroy();
    server.close();
    server.closeAllConnections();
  });

  function attempt(): Attempt {
    return new Attempt({
      upstream: new UndiciUpstream(origin, pool),
      request: {
        path: "/",
        headers: [],
        body: Buffer.from("{}"),
        connectTimeoutMs: 1_000,
        timeouts: { firstByteMs: 1_000, idleMs: 1_000, totalMs: 1_000 },
      },
      format: chatCompletions,
      call: callOf(chatCompletions, { stream: false }),
      limits: defaultLimits,
      inFlightBytes: new InFlightBytes(defaultLimits.inFlightBytesMax),
      translation: undefined,
      dropped: [],
      bridge: () => assert.fail("not asked for"),
      client: undefined,
      onPiece: () => undefined,
    });
  }

  it("ends as stopped and sends nothing when it was stopped before it began", async () => {
    const stopped = attempt();
    stopped.stop("client-left");
    const outcome = await within(1_000, "the outcome", stopped.run());
    assert.deepEqual(outcome, { kind: "stopped", reason: "client-left", meter: undefined, isSent: false });
    assert.equal(requests, 0);
  });

  it("ends once, however often it is stopped", async () => {
    const stopped = attempt();
    const outcome = stopped.run();
    stopped.stop("shutting-down");
    stopped.stop("client-left");
    assert.equal((await outcome).kind, "stopped");
  });
});
