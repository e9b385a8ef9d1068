/** Forms for which there is no room or no time: slow clients, slow disks, full disks, full counts (E8, F1, F6). */
import assert from "node:assert/strict";
import { mkdirSync, rmSync } from "node:fs";
import type { SpoolFile } from "#proxy/http/form/spool";
import { field, file, formOf, formServers } from "#test/support/form-server";
import { waitFor, within } from "#test/support/wait-for";

const type = "Content-Type: multipart/form-data; boundary=b";
const kiB = 1024;
const large = formOf([file("image", Buffer.alloc(1_000_000, "a")), field("model", "m")]);

describe("readForm, where there is no room or no time", () => {
  const start = formServers();

  for (const { name, limits, sentBytes } of [
    { name: "is silent before it begins", limits: { bodyIdleTimeoutMs: 50 }, sentBytes: 0 },
    { name: "is silent within a field", limits: { bodyIdleTimeoutMs: 50 }, sentBytes: 300 },
    { name: "is silent within a file on disk", limits: { bodyIdleTimeoutMs: 50 }, sentBytes: 700_000 },
    { name: "takes too long in all", limits: { formTimeoutMs: 50 }, sentBytes: 700_000 },
  ]) {
    it(`refuses a client that ${name} (F1)`, async () => {
      const server = await start({ limits });
      const sent = await server.send([large.subarray(0, sentBytes)], [type, `Content-Length: ${large.length}`]);
      assert.equal(await server.outcomeOf(sent), "request_timeout");
    });
  }

  it("takes a form that comes slowly and never stops", async () => {
    const server = await start({ limits: { bodyIdleTimeoutMs: 200 } });
    const body = formOf([field("model", "m".repeat(500))]);
    const sent = await server.send([], [type, `Content-Length: ${body.length}`]);
    const pieces = Array.from({ length: 12 }, (_, index) => body.subarray(index * 50, index * 50 + 50));
    const begun = performance.now();
    for (const piece of pieces) {
      sent.socket.write(piece);
      // The client's own pace is what is tested: all of it takes longer than the bound for silence.
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    assert.ok(performance.now() - begun > 200);
    assert.deepEqual(await server.outcomeOf(sent), [["model", "m".repeat(500)]]);
  });

  it("refuses files for which the spool has no room (F6)", async () => {
    const server = await start({ spoolBytesMax: 1_000_000 });
    const first = await server.send([large], [type, `Content-Length: ${large.length}`]);
    const form = await within(5_000, "the first form", first.form);
    assert.equal(await server.outcome(large), "overloaded");
    form.release();
    first.socket.destroy();
    assert.notEqual(await server.outcome(large), "overloaded");
  });

  it("leaves half of the spool to the other keys (P8)", async () => {
    const server = await start({ spoolBytesMax: 2_000_000 });
    const greedy = { namespace: "default", name: "greedy" };
    const [one, two] = [server.spool.ofCall(greedy), server.spool.ofCall(greedy)];
    one.acquire(900_000);
    assert.throws(() => two.acquire(200_000), { code: "overloaded" });
    const other = server.spool.ofCall({ namespace: "default", name: "other" });
    other.acquire(900_000);
    for (const call of [one, other]) call.release(900_000);
  });

  for (const { name, bytesMax } of [
    { name: "the first part of a file", bytesMax: 100_000 },
    { name: "what waits for the disk", bytesMax: 300 * kiB },
  ]) {
    it(`refuses a form where the memory has no room for ${name} (F6)`, async () => {
      const server = await start({ inFlightBytesMax: bytesMax });
      assert.equal(await server.outcome(large), "overloaded");
    });
  }

  it("counts what a form holds in memory, and no more", async () => {
    const server = await start({});
    const sent = await server.send([large], [type, `Content-Length: ${large.length}`]);
    const form = await within(5_000, "the form", sent.form);
    assert.equal(server.inFlight.bytes, 1_024 * kiB + 1);
    assert.equal(server.spool.bytes, 1_000_000 - 256 * kiB);
    form.release();
    sent.socket.destroy();
  });

  it("does not read a client while the disk is slow, and reads on when it is not (F1)", async () => {
    let goOn: () => void = () => {};
    const isSlow = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const server = await start({
      limits: { bodyIdleTimeoutMs: 100 },
      openFile: async (open) => {
        await isSlow;
        return open();
      },
    });
    const body = formOf([file("image", Buffer.alloc(40_000_000, "a"))]);
    const sent = await server.send([body], [type, `Content-Length: ${body.length}`]);
    let mostBytes = -1;
    await waitFor(
      "the client to be left unread for longer than it may be silent",
      () => {
        const isSame = server.spool.bytes === mostBytes && mostBytes > 0;
        mostBytes = server.spool.bytes;
        return isSame;
      },
      { everyMs: 300 },
    );
    assert.ok(mostBytes < 1_000 * kiB, `${mostBytes} bytes wait`);
    goOn();
    const form = await within(10_000, "the form", sent.form);
    assert.equal(form.bodyBytes, body.length);
    form.release();
    sent.socket.destroy();
  });

  it("refuses a form when the disk is too slow for its time, which is no fault of the client", async () => {
    const opened: (() => void)[] = [];
    const server = await start({
      limits: { formTimeoutMs: 100 },
      openFile: async (open) => {
        await new Promise<void>((resolve) => opened.push(resolve));
        return open();
      },
    });
    assert.equal(await server.outcome(large), "overloaded");
    for (const open of opened) open();
  });

  for (const { code, outcome } of [
    { code: "ENOSPC", outcome: "overloaded" },
    { code: "EDQUOT", outcome: "overloaded" },
    { code: "EIO", outcome: "internal" },
  ]) {
    it(`refuses a form when the disk says ${code}, and closes the file`, async () => {
      let closed = 0;
      const server = await start({
        openFile: async (open): Promise<SpoolFile> => {
          const real = await open();
          return {
            read: (into, position) => real.read(into, position),
            write: async () => {
              throw Object.assign(new Error("the disk failed"), { code });
            },
            close: async () => {
              closed += 1;
              await real.close();
            },
          };
        },
      });
      assert.equal(await server.outcome(large), outcome);
      assert.equal(closed, 1);
    });
  }

  it("writes on where the disk takes a part of what it is given", async () => {
    const content = Buffer.from(Array.from({ length: 1_000_000 }, (_, index) => index % 251));
    const server = await start({
      openFile: async (open): Promise<SpoolFile> => {
        const real = await open();
        return {
          read: (into, position) => real.read(into, position),
          close: () => real.close(),
          // No more than this of the first piece.
          write: ([first = Buffer.alloc(0)], position) => real.write([first.subarray(0, 10_007)], position),
        };
      },
    });
    const outcome = await server.outcome(formOf([file("image", content)]));
    assert.deepEqual(outcome, [["image", content.toString("latin1"), "a.png", "image/png"]]);
  });

  it("says that it is its own fault when the folder is gone, and works on when it is back", async () => {
    const server = await start({});
    rmSync(server.folder, { recursive: true });
    assert.equal(await server.outcome(large), "internal");
    assert.deepEqual(await server.outcome(formOf([field("model", "m")])), [["model", "m"]]);
    mkdirSync(server.folder);
    assert.notEqual(await server.outcome(large), "internal");
  });
});
