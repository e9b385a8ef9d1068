/**
 * docs/design/reliability.md F, G, H, K and N for sockets: what breaks, drags, leaves or is revoked ends a realtime session
 * in time and visibly, and is charged once.
 */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import { memberAt } from "#proxy/json/json-value";
import { RawClient } from "#test/support/raw-client";
import type { FakeSession } from "#test/support/realtime/fake-realtime";
import { frame, handshakeText, rawRealtime } from "#test/support/realtime/raw-frames";
import type { RealtimeClient } from "#test/support/realtime/realtime-client";
import {
  type RealtimeRig,
  realtimeChannel,
  realtimeRoute,
  startRealtimeRig,
  useRealtimeRig,
} from "#test/support/realtime/realtime-rig";
import { apiKey, manifest, secret } from "#test/support/resilience/manifests";
import { waitFor } from "#test/support/wait-for";

const MiB = 1024 * 1024;
const errorCode = (client: RealtimeClient): unknown => client.lastError["code"];

/** Begins a response and leaves it open. */
const beginOnly = (session: FakeSession, { type }: { readonly type: string }): void => {
  if (type === "response.create") session.begin();
};

describe("a realtime session", function () {
  this.timeout(30_000);
  let rig: RealtimeRig;
  useRealtimeRig(
    {
      objects: ([port = 0]) => [
        secret(),
        apiKey("main"),
        realtimeChannel("c0", port),
        realtimeRoute("talk", ["c0"]),
        realtimeRoute("scribe", ["c0"]),
      ],
      flags: ["--limits-realtime-message=1MiB", "--timeouts-realtime-ping=1s", "--timeouts-slow-reader=2s"],
    },
    (started) => {
      rig = started;
    },
  );

  describe("ends", () => {
    it("with the client's code and reason", async () => {
      const client = await rig.connect();
      await client.waitFor("session.created");
      client.socket.close(4123, "enough");
      await client.waitClosed();
      const closed = await waitFor("the upstream's close", () => rig.upstream.session.closed);
      assert.deepEqual([closed.code, closed.reason], [4123, "enough"]);
    });

    for (const [code, wanted] of [
      [1000, "talk is not for [account]"],
      [1001, "talk is not for [account]"],
      [1002, ""],
      [1007, ""],
      [1008, ""],
      [1009, ""],
      [4_321, ""],
    ] as const) {
      it(`with the upstream's code ${code} and ${wanted === "" ? "no reason" : "a reason without its names"}`, async () => {
        const client = await rig.connect();
        await client.waitFor("session.created");
        rig.upstream.session.socket.close(code, "up-talk is not for org-abcdef");
        const closed = await client.waitClosed();
        assert.deepEqual([closed.code, closed.reason, client.errors], [code, wanted, []]);
      });
    }

    it("with 1001 at the upstream when the client breaks the protocol", async () => {
      const client = await rawRealtime(rig.gateway.port);
      const { session } = rig.upstream;
      client.write(frame("{}", { reserved: 4 }));
      const closed = await waitFor("the upstream's close", () => session.closed);
      assert.equal(closed.code, 1001);
      client.close();
    });

    for (const [name, wanted] of [
      ["the upstream", ["SD", "upstream_error"]],
      ["the client", ["CD", undefined]],
    ] as const) {
      it(`and what runs is said to be cut by ${name} that closes`, async () => {
        rig.upstream.script = beginOnly;
        const client = await rig.connect();
        const line = rig.nextResponseLine();
        client.send({ type: "response.create" });
        await client.waitFor("response.created");
        (name === "the client" ? client : rig.upstream.session).socket.close(1000);
        const { end, error } = await line;
        assert.deepEqual([end, error], wanted);
      });
    }

    it("as complete when the upstream closes and nothing runs", async () => {
      const client = await rig.connect();
      await client.waitFor("session.created");
      const known = rig.gateway.accessLog.length;
      rig.upstream.session.socket.close(1000);
      await client.waitClosed();
      const line = await waitFor("the session", () =>
        rig.gateway.accessLog.slice(known).find(({ status }) => status === 101),
      );
      assert.deepEqual([line["end"], line["error"]], ["--", undefined]);
    });

    it("within 100 ms at the upstream when the client's connection is cut", async () => {
      const client = await rig.connect();
      await client.waitFor("session.created");
      const cutMs = performance.now();
      client.socket.terminate();
      const closed = await waitFor("the upstream's close", () => rig.upstream.session.closed, { everyMs: 1 });
      console.log(`      closed at the upstream after ${Math.round(closed.atMs - cutMs)} ms, limit 100`);
      assert.equal(closed.code, 1001);
      assert.ok(closed.atMs - cutMs <= 100);
    });

    it("with an error event and 1011 when the upstream's connection is cut", async () => {
      const client = await rig.connect();
      await client.waitFor("session.created");
      rig.upstream.cut();
      const { code, reason } = await client.waitClosed();
      assert.deepEqual([code, errorCode(client)], [1011, "upstream_error"]);
      assert.match(reason, /connection error/);
      await rig.logLine(
        "the session",
        ({ status, end, error }) => status === 101 && end === "SD" && error === "upstream_error",
      );
    });

    for (const [name, text] of [
      ["no JSON", "no json"],
      ["a list", "[]"],
      ["no type", '{"a":1}'],
    ] as const) {
      it(`with 1011 when the upstream says ${name}`, async () => {
        const client = await rig.connect();
        rig.upstream.session.socket.send(text);
        assert.deepEqual([(await client.waitClosed()).code, errorCode(client)], [1011, "upstream_error"]);
      });
    }

    it("with 1011 when the upstream sends a binary message", async () => {
      const client = await rig.connect();
      rig.upstream.session.socket.send(Buffer.from("{}"));
      assert.equal((await client.waitClosed()).code, 1011);
    });

    it("with 1003 when the client sends a binary message", async () => {
      const client = await rig.connect();
      client.socket.send(Buffer.from('{"type":"response.create"}'));
      assert.equal((await client.waitClosed()).code, 1003);
      assert.equal(rig.upstream.session.received.length, 0);
    });

    it("with 1009 when a message of the client is too large", async () => {
      const client = await rig.connect();
      client.send({ type: "input_audio_buffer.append", audio: "A".repeat(MiB) });
      assert.equal((await client.waitClosed()).code, 1009);
      assert.equal(rig.upstream.session.received.length, 0);
    });

    it("with 1009 when a message of the upstream is too large", async () => {
      const client = await rig.connect();
      rig.upstream.session.send({ type: "response.output_audio.delta", delta: "A".repeat(MiB) });
      assert.deepEqual([(await client.waitClosed()).code, errorCode(client)], [1009, "upstream_error"]);
    });

    it("before it began, when the client leaves while the upstream is silent", async () => {
      rig.upstream.isSilent = true;
      const client = await RawClient.connect({ port: rig.gateway.port });
      const before = rig.upstream.handshakes;
      client.write(handshakeText());
      await waitFor("the handshake", () => rig.upstream.handshakes > before);
      client.close();
      await waitFor("the upstream's end", () => rig.upstream.openConnections === 0);
    });
  });

  describe("is looked after", () => {
    it("answers pings, and sends some of its own to both sides", async () => {
      let pings = 0;
      const client = await rig.connect();
      client.socket.on("ping", () => {
        pings += 1;
      });
      client.socket.ping();
      await waitFor("a pong", () => client.pongs === 1);
      let upstreamPings = 0;
      rig.upstream.session.socket.on("ping", () => {
        upstreamPings += 1;
      });
      await waitFor("pings", () => pings >= 2 && upstreamPings >= 2, { deadlineMs: 6_000 });
      assert.equal(client.closed, undefined);
    });

    it("cuts a client that is gone without a word", async () => {
      const client = await rig.connect();
      await client.waitFor("session.created");
      // Nothing is read, so no ping is answered.
      client.socket.pause();
      const closed = await waitFor("the upstream's close", () => rig.upstream.session.closed, { deadlineMs: 6_000 });
      assert.equal(closed.code, 1001);
    });

    it("tells the client that the upstream is gone without a word", async () => {
      const client = await rig.connect();
      await client.waitFor("session.created");
      rig.upstream.session.socket.pause();
      assert.equal((await client.waitClosed(6_000)).code, 1011);
    });

    it("makes the upstream wait for a client that reads slowly, and cuts it in the end", async () => {
      const client = await rig.connect();
      await client.waitFor("session.created");
      client.socket.pause();
      const { session } = rig.upstream;
      const delta = "A".repeat(64 * 1024);
      const before = await rig.gateway.metric("process_resident_memory_bytes");
      for (let count = 0; count < 1_024; count += 1) session.send({ type: "response.output_audio.delta", delta });
      // 64 MiB are on their way: most of them wait at the upstream.
      await waitFor("the upstream to wait", () => session.socket.bufferedAmount > 32 * MiB);
      const grown = (await rig.gateway.metric("process_resident_memory_bytes")) - before;
      console.log(`      memory grew by ${Math.round(grown / MiB)} MiB, limit 16`);
      assert.ok(grown < 16 * MiB);
      await rig.logLine("the cut", ({ status, end }) => status === 101 && (end === "cD" || end === "CD"));
    });

    it("makes the client wait for an upstream that reads slowly, and loses nothing", async () => {
      const client = await rig.connect();
      const { session } = rig.upstream;
      await client.waitFor("session.created");
      session.socket.pause();
      const audio = "A".repeat(64 * 1024);
      for (let count = 0; count < 512; count += 1) client.send({ type: "input_audio_buffer.append", audio });
      await waitFor("the client to wait", () => client.socket.bufferedAmount > 8 * MiB);
      session.socket.resume();
      await session.waitFor("input_audio_buffer.append", 512);
      assert.ok(session.texts.every(({ length }) => length > audio.length));
    });
  });

  describe("keeps order", () => {
    it("when messages follow one that is reserved first", async () => {
      rig.upstream.script = () => {};
      const client = await rig.connect();
      for (let count = 0; count < 50; count += 1) {
        client.send({ type: "response.create", event_id: `r${count}` });
        client.send({ type: "conversation.item.create", event_id: `i${count}`, item: {} });
        client.send({ type: "input_audio_buffer.append", audio: "AAAA" });
      }
      await rig.upstream.session.waitFor("input_audio_buffer.append", 50);
      const ids = rig.upstream.session.received.map(({ event_id: id }) => id ?? "a");
      assert.deepEqual(ids, Array.from({ length: 50 }, (_, count) => [`r${count}`, `i${count}`, "a"]).flat());
    });
  });
});

describe("revocation of a realtime session's key", function () {
  this.timeout(60_000);
  const limitMs = 1_000;
  const objects = ([port = 0]: readonly number[]): readonly object[] => [
    secret(),
    apiKey("main"),
    realtimeChannel("c0", port),
    realtimeRoute("talk", ["c0"]),
  ];
  const changes = [
    ["suspended", { state: "Suspended" }],
    ["expired", { expiresAt: "2020-01-01T00:00:00Z" }],
    ["denied the model", { models: { deny: ["talk"] } }],
    ["restricted to other addresses", { clientCIDRs: { allow: ["10.0.0.0/8"] } }],
    ["denied the endpoint", { capabilities: ["Chat"] }],
    ["given another credential", { credentials: [{ name: "next", sha256: "0".repeat(64) }] }],
  ] as const;

  for (const revocation of ["Finish", "Immediate"] as const) {
    describe(`with ${revocation}`, () => {
      let rig: RealtimeRig;
      before(async () => {
        rig = await startRealtimeRig({ objects, flags: [`--revocation=${revocation}`] });
      });
      after(() => rig?.close());

      /** A session of a key that lives, and a way to change the key. */
      async function victim(): Promise<RealtimeClient> {
        await rig.gateway.write("victim.yaml", manifest(apiKey("victim")));
        return waitFor("a session", () => rig.connect({ key: "victim" }));
      }

      for (const [name, spec] of changes) {
        it(`a session whose key is ${name} is closed within a second`, async () => {
          const client = await victim();
          await client.waitFor("session.created");
          const writtenMs = performance.now();
          await rig.gateway.write("victim.yaml", manifest(apiKey("victim", spec)));
          const { code, reason, atMs } = await client.waitClosed();
          assert.deepEqual([code, errorCode(client)], [1008, "invalid_api_key"]);
          assert.match(reason, /revoked/);
          console.log(`      closed after ${Math.round(atMs - writtenMs)} ms, limit ${limitMs}`);
          assert.ok(atMs - writtenMs <= limitMs);
          await rig.logLine("the session", ({ end, key }) => end === "KD" && key === "default/victim");
        });
      }

      it(`a response that runs ${revocation === "Finish" ? "is said to its end" : "is cut"}`, async () => {
        rig.upstream.script = beginOnly;
        const client = await victim();
        client.send({ type: "response.create" });
        await client.waitFor("response.created");
        const { session } = rig.upstream;
        await rig.gateway.write("victim.yaml", manifest(apiKey("victim", { state: "Suspended" })));
        if (revocation === "Immediate") {
          assert.equal((await client.waitClosed()).code, 1008);
          assert.equal(client.of("response.done").length, 0);
          return;
        }
        await waitFor("the key to be refused", async () => (await rig.refused({ key: "victim" })).status === 401);
        client.send({ type: "response.create" });
        await client.waitFor("error");
        client.socket.send('{"type":"\\u0072esponse.create"}');
        await client.waitFor("error", 2);
        session.say("resp_1", "the end");
        session.finish("resp_1");
        await client.waitFor("response.done");
        assert.equal((await client.waitClosed()).code, 1008);
        assert.equal(session.of("response.create").length, 1);
      });
    });
  }
});

describe("the end of the gateway", function () {
  this.timeout(30_000);
  let rig: RealtimeRig | undefined;
  afterEach(() => rig?.close());

  it("closes an idle session with 1001, and lets a response end first", async () => {
    rig = await startRealtimeRig();
    rig.upstream.script = beginOnly;
    const idle = await rig.connect();
    const busy = await rig.connect();
    const { session } = rig.upstream;
    busy.send({ type: "response.create" });
    await busy.waitFor("response.created");
    const stopped = rig.gateway.stop();
    assert.deepEqual([(await idle.waitClosed()).code, errorCode(idle)], [1001, "shutting_down"]);
    assert.equal(busy.closed, undefined);
    session.say("resp_1", "the end");
    session.finish("resp_1");
    await busy.waitFor("response.done");
    assert.equal((await busy.waitClosed()).code, 1001);
    assert.equal(await stopped, 0);
    const lines = rig.gateway.accessLog.filter(({ format }) => format === "Realtime");
    assert.deepEqual(lines.map(({ status, end }) => `${status} ${end}`).sort(), ["101 DD", "101 DD", "200 --"]);
  });

  it("cuts a response that outlasts the drain, and charges what it said", async () => {
    rig = await startRealtimeRig({ flags: ["--drain-timeout=500ms"] });
    rig.upstream.script = beginOnly;
    const client = await rig.connect();
    client.send({ type: "response.create" });
    await client.waitFor("response.created");
    rig.upstream.session.say("resp_1", "one two three four five");
    await client.waitFor("response.output_text.delta");
    const stopped = rig.gateway.stop();
    assert.equal((await client.waitClosed()).code, 1001);
    assert.equal(await stopped, 0);
    const line = rig.gateway.accessLog.find(({ status, format }) => format === "Realtime" && status === 200);
    assert.deepEqual([line?.["end"], line?.["estimated"]], ["DD", true]);
    assert.ok(Number(memberAt(line, "tokens", "output")) >= 4);
  });

  it("ends a session that was open for as long as one may be", async () => {
    rig = await startRealtimeRig({ flags: ["--timeouts-realtime-session=1s"] });
    const client = await rig.connect();
    assert.deepEqual([(await client.waitClosed()).code, errorCode(client)], [4408, "session_expired"]);
  });

  it("a gateway that is killed leaves neither side waiting", async () => {
    rig = await startRealtimeRig();
    const client = await rig.connect();
    await client.waitFor("session.created");
    // The proxy's own process; the operator stays.
    process.kill(Number(/"process":(\d+)/.exec(rig.gateway.logs)?.[1]), "SIGKILL");
    assert.equal((await client.waitClosed()).code, 1006);
    await waitFor("the upstream's end", () => rig?.upstream.openConnections === 0);
  });
});
