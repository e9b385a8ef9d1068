/**
 * Whoever runs the gateway reads in the log what was broken of an upstream's answer: which event, what was expected and what
 * came, without a word of the content.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { chunk, reply, streamHead } from "#test/support/resilience/byte-upstream";
import { formats } from "#test/support/resilience/formats";
import { type Rig, startRig } from "#test/support/resilience/rig";
import { waitFor } from "#test/support/wait-for";

const canary = "confidential";

describe("the log line of a broken answer", function () {
  this.timeout(30_000);
  let rig: Rig;

  before(async () => {
    rig = await startRig();
  });
  after(() => rig?.close());

  /** Reasons that the log gave since. */
  async function reasonOf(before: number): Promise<string> {
    return waitFor("a reason in the log", () => /"reason":"([^"]+)"/.exec(rig.gateway.logs.slice(before))?.[1]);
  }

  for (const format of formats) {
    const [first = "", second = ""] = format.events(canary);
    for (const row of [
      {
        name: "an event that is not JSON",
        // Events without a word that matters pass unread.
        body: `${first}data: {"error ${canary}":\n\n`,
        want: /^event 2: expected JSON, got \d+ characters that are not$/,
      },
      {
        name: "an event that is not UTF-8",
        body: Buffer.concat([Buffer.from(`${first}data: `), Buffer.from([0xff]), Buffer.from("\n\n")]),
        want: /^event \d: expected UTF-8, got \d+ bytes that are not$/,
      },
      {
        name: "an end that is too early",
        body: first + second,
        want: /^expected the end of the reply, the body ended behind event 2$/,
      },
    ]) {
      it(`${format.name}: names ${row.name}`, async () => {
        const before = rig.gateway.logs.length;
        rig.upstream.replyWith(({ socket }) => {
          socket.write(Buffer.concat([Buffer.from(streamHead), chunk(first)]));
          socket.write(Buffer.concat([chunk(Buffer.from(row.body).subarray(first.length)), chunk("")]));
        });
        await rig.call({ format });
        assert.match(await reasonOf(before), row.want);
        assert.ok(!rig.gateway.logs.includes(canary), "the log holds content");
      });
    }

    it(`${format.name}: names a whole answer that is none`, async () => {
      const before = rig.gateway.logs.length;
      rig.upstream.replyWith(({ socket }) => socket.write(reply(`<html>${canary}</html>`)));
      const answer = await rig.call({ format, stream: false });
      assert.equal(answer.status, 502);
      assert.match(await reasonOf(before), /not JSON|no JSON|not a JSON object/);
      assert.ok(!rig.gateway.logs.includes(canary), "the log holds content");
    });
  }
});
