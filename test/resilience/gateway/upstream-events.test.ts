/**
 * docs/design/reliability.md G5: odd but legal event streams say the same to the client however they are cut; illegal
 * ones end in an error.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { chunk, streamHead } from "#test/support/resilience/byte-upstream";
import type { Answer } from "#test/support/resilience/call-gateway";
import { type FormatUnderTest, formatNamed, formats } from "#test/support/resilience/formats";
import { type Rig, startRig } from "#test/support/resilience/rig";

/** What a strict reader of event streams hears: data by data. */
function heard(text: string): string[] {
  return text
    .replace(/^\uFEFF/, "")
    .split(/\r\n|\r|\n/)
    .join("\n")
    .split("\n\n")
    .map((event) =>
      event
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).replace(/^ /, ""))
        .join("\n"),
    )
    .filter((data) => data !== "");
}

const spellings: readonly { readonly name: string; readonly spell: (stream: string) => string }[] = [
  { name: "CRLF", spell: (stream) => stream.replaceAll("\r\n", "\n").replaceAll("\n", "\r\n") },
  { name: "CR", spell: (stream) => stream.replaceAll("\r\n", "\n").replaceAll("\n", "\r") },
  {
    name: "mixed line ends",
    spell: (stream) => {
      // Never CR before LF: those two are one line end.
      const ends = ["\n\r\n", "\r\n\r", "\r\r", "\r\n\n", "\n\r"];
      let count = 0;
      return stream.replaceAll("\r\n", "\n").replaceAll("\n\n", () => ends[count++ % ends.length] ?? "\n\n");
    },
  },
  { name: "a byte order mark", spell: (stream) => `\uFEFF${stream}` },
  { name: "comments", spell: (stream) => stream.replaceAll(/(\r?\n){2}/g, (end) => `${end}: ping${end}`) },
  {
    name: "id and retry",
    spell: (stream) => stream.replaceAll(/^data:/gm, "id: 7\nretry: 100\ndata:"),
  },
  { name: "no space after the colon", spell: (stream) => stream.replaceAll(/^data: /gm, "data:") },
  { name: "no blank line at the end", spell: (stream) => stream.trimEnd() },
  { name: "extra blank lines", spell: (stream) => stream.replaceAll(/(\r?\n){2}/g, (end) => end + end) },
];

describe("an upstream whose event stream is odd", function () {
  this.timeout(60_000);
  let rig: Rig;

  before(async () => {
    rig = await startRig({ flags: ["--limits-event-bytes=1MiB"] });
  });
  after(() => rig?.close());

  /** Sends a stream in pieces that end at random places. */
  async function stream(format: FormatUnderTest, text: string | Buffer, pieceBytes: number): Promise<Answer> {
    const bytes = Buffer.from(text);
    rig.upstream.replyWith(({ socket }) => {
      socket.write(streamHead);
      let start = 0;
      const next = (): void => {
        if (socket.destroyed) return;
        if (start >= bytes.length) {
          socket.write(chunk(""));
          return;
        }
        const end = Math.min(bytes.length, start + 1 + Math.floor(Math.random() * pieceBytes));
        socket.write(chunk(bytes.subarray(start, end)), () => setImmediate(next));
        start = end;
      };
      next();
    });
    return await rig.call({ format });
  }

  for (const format of formats) {
    for (const { name, spell } of spellings) {
      it(`${format.name}: ${name}, cut anywhere`, async () => {
        const text = format.events("grüße 👋").join("");
        const spelt = spell(text);
        for (const pieceBytes of [1, 7, 64, 100_000]) {
          const answer = await stream(format, spelt, pieceBytes);
          assert.deepEqual(heard(answer.text), heard(text), `pieces of ${pieceBytes}`);
          assert.equal(answer.isComplete, true, `pieces of ${pieceBytes}`);
        }
      });
    }

    it(`${format.name}: an event over the cap is an error event`, async () => {
      const [first = ""] = format.events();
      const answer = await stream(format, `${first}data: {"a":"${"x".repeat(1_200_000)}"}\n\n`, 200_000);
      assert.ok(answer.text.startsWith(first));
      assert.match(answer.text, format.errorEvent);
      assert.equal(answer.isComplete, format.failsCleanly);
    });

    it(`${format.name}: JSON that is cut, or two values in a line, is an error event`, async () => {
      const events = format.events();
      for (const bad of ['data: {"a":\n\n', "data: {}{}\n\n", `data: \xff\n\n`]) {
        const wire = Buffer.concat([
          Buffer.from(events.slice(0, 2).join("")),
          Buffer.from(bad, "latin1"),
          Buffer.from(events.slice(2).join("")),
        ]);
        const answer = await stream(format, wire, 50);
        // A filter that does not read an event passes it: the client must then see all of it.
        if (format.errorEvent.test(answer.text)) assert.equal(answer.isComplete, format.failsCleanly);
        else assert.deepEqual(heard(answer.text), heard(wire.toString("utf8")));
      }
    });

    it(`${format.name}: an unknown event passes`, async () => {
      const events = format.events();
      const strange =
        format.name === "GenerateContent" ? 'data: {"news":1}\r\n\r\n' : 'event: news\ndata: {"type":"news"}\n\n';
      const answer = await stream(format, [...events.slice(0, 2), strange, ...events.slice(2)].join(""), 50);
      assert.equal(answer.isComplete, true);
      assert.ok(answer.text.includes("news"));
    });
  }

  const chat = formatNamed("ChatCompletions");
  const done = "data: [DONE]\n\n";
  for (const row of [
    { name: "[DONE] twice is sent once", spell: (text: string) => text + done, isWhole: true, dones: 1 },
    {
      name: "[DONE] never is a failure",
      spell: (text: string) => text.replace(done, ""),
      isWhole: false,
      dones: 0,
    },
    {
      name: "[DONE] early, before a finish reason, is a failure",
      spell: () => `${chat.events()[0]}${done}`,
      isWhole: false,
      dones: 0,
    },
    {
      name: "events behind [DONE] are dropped",
      spell: (text: string) => `${text}data: {"late":true}\n\n`,
      isWhole: true,
      dones: 1,
    },
  ]) {
    it(`ChatCompletions: ${row.name}`, async () => {
      const answer = await stream(chat, row.spell(chat.events().join("")), 40);
      assert.equal(answer.text.split("data: [DONE]").length - 1, row.dones, answer.text);
      assert.equal(chat.errorEvent.test(answer.text), !row.isWhole);
      assert.equal(answer.isComplete, true);
      assert.ok(!answer.text.includes("late"));
    });
  }
});
