import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { afterEach, beforeEach, describe, it } from "mocha";
import { Pool } from "undici";
import { chatCompletionsUpstream as chatCompletions } from "#proxy/formats/chat-completions/native/upstream-format";
import type { ChatCall } from "#proxy/formats/format";
import { InFlightBytes } from "#proxy/http/in-flight-bytes";
import { defaultLimits } from "#proxy/limits";
import type { ReplyBridge } from "#proxy/translate/reply-bridge";
import { Attempt } from "#proxy/upstream/attempt";
import type { AttemptOptions } from "#proxy/upstream/attempt-options";
import type { ClientStream } from "#proxy/upstream/client/client-stream";
import { ChatReader } from "#proxy/upstream/reply/chat-reader";
import { attemptOptions } from "#test/support/attempt-options";
import { callOf } from "#test/support/digest/stream-call";
import { bridgeOf } from "#test/support/translation/own-format-exchange";
import { within } from "#test/support/wait-for";

function readerOf(call: ChatCall, bridge = (): ReplyBridge => assert.fail("not asked for")): ChatReader {
  return new ChatReader({ format: chatCompletions, call, translation: undefined, bridge }, defaultLimits);
}

describe("Attempt", () => {
  let server: Server;
  let pool: Pool;
  let origin = "";
  let requests = 0;
  let reply = "{}";

  beforeEach(async () => {
    requests = 0;
    reply = "{}";
    server = createServer((_request, response) => {
      requests += 1;
      response.setHeader("content-type", "application/json").end(reply);
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

  function attempt(changes: Partial<AttemptOptions> = {}): Attempt {
    const reader = readerOf(callOf(chatCompletions, { stream: false }));
    return new Attempt({ ...attemptOptions(origin, pool, reader), ...changes });
  }

  it("ends as stopped and sends nothing when it was stopped before it began", async () => {
    const stopped = attempt();
    stopped.stop("client-left");
    const outcome = await within(1_000, "the outcome", stopped.run());
    assert.deepEqual(outcome, { kind: "stopped", reason: "client-left", filter: undefined, isSent: false });
    assert.equal(requests, 0);
  });

  it("ends once, however often it is stopped", async () => {
    const stopped = attempt();
    const outcome = stopped.run();
    stopped.stop("shutting-down");
    stopped.stop("client-left");
    assert.equal((await outcome).kind, "stopped");
  });

  for (const { name, bytesMax, want } of [
    { name: "is counted with what it is told in", bytesMax: 4_000_000, want: "streamed" },
    { name: "is not told where there is no room for that", bytesMax: 400_000, want: "stopped" },
  ]) {
    it(`a whole reply for a client that streams ${name}`, async () => {
      const choices = Array.from({ length: 2_000 }, () => ({ message: { content: "a" } }));
      reply = JSON.stringify({ id: "chatcmpl-1", object: "chat.completion", choices });
      const inFlightBytes = new InFlightBytes(bytesMax);
      let written = 0;
      const client = {
        passHeaders: () => undefined,
        hasBegun: false,
        write: (pieces: readonly Buffer[]) => {
          for (const { length } of pieces) written += length;
          return true;
        },
      };
      const told = attempt({
        inFlightBytes,
        reader: readerOf(callOf(chatCompletions), () => bridgeOf("ChatCompletions")),
        client: client as unknown as ClientStream,
      });
      const outcome = await within(5_000, "the outcome", told.run());
      assert.equal(outcome.kind, want);
      assert.equal(written > 500_000, want === "streamed", `${written} bytes`);
      // The first 128 KiB of a reply are free.
      if (want === "streamed") assert.ok(inFlightBytes.bytes + 131_072 >= written, `${inFlightBytes.bytes} bytes`);
      told.release();
      assert.equal(inFlightBytes.bytes, 0);
    });
  }
});
