/** pitfall 165: nothing but data reaches Google's clients, however an upstream spells it and the network cuts it. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { GenerateContentStreamFilter } from "#proxy/formats/generate-content/native/stream-filter";
import { withoutComments } from "#proxy/formats/generate-content/native/without-comments";

const frame = 'data: {"candidates":[{"content":{"parts":[{"text":": a\\n: b"}]}}]}';
const rows: readonly { readonly name: string; readonly block: string; readonly want: string | undefined }[] = [
  { name: "frames", block: `${frame}\n\n${frame}\n\n`, want: undefined },
  { name: "Google's line ends", block: `${frame}\r\n\r\n${frame}\r\n\r\n`, want: undefined },
  { name: "returns alone", block: `${frame}\r\r${frame}\r\r`, want: `${frame}\r\r${frame}\r\r` },
  { name: "a comment alone", block: ": OPENROUTER PROCESSING\n\n", want: "" },
  { name: "a colon alone", block: ":\n\n", want: "" },
  { name: "a comment before an event", block: `: ping\n\n${frame}\n\n`, want: `${frame}\n\n` },
  { name: "a comment in an event", block: `: ping\r\n${frame}\r\n\r\n`, want: `${frame}\r\n\r\n` },
  { name: "a comment behind the data", block: `${frame}\n: ping\n\n`, want: `${frame}\n\n` },
  { name: "a comment with returns alone", block: `: ping\r\r${frame}\r: ping\r\r`, want: `${frame}\r\r` },
  { name: "a byte order mark before a comment", block: `\ufeff: ping\n${frame}\n\n`, want: `${frame}\n\n` },
  { name: "a byte order mark", block: `\ufeff${frame}\n\n`, want: `${frame}\n\n` },
  { name: "blank lines before an event", block: `\n\n${frame}\n\n`, want: `${frame}\n\n` },
  {
    name: "blank lines behind an event",
    block: `${frame}\r\n\r\n\r\n\r\n${frame}\r\n\r\n`,
    want: `${frame}\r\n\r\n`.repeat(2),
  },
  { name: "blank lines alone", block: "\n\n\n", want: "" },
  { name: "other fields", block: `id: 7\nevent: message\nretry\n${frame}\n\nid\n\n`, want: `${frame}\n\n` },
  { name: "no space behind the colon", block: 'data:{"a":1}\n\n', want: 'data: {"a":1}\n\n' },
  { name: "lines that are no field", block: `eventual\n\n${frame}\n\n`, want: `eventual\n\n${frame}\n\n` },
];

describe("generateContent: streams without comments", () => {
  for (const { name, block, want } of rows) {
    it(`pitfall 165: ${name}`, () => assert.equal(withoutComments(Buffer.from(block))?.toString("utf8"), want));
  }

  it("pitfall 165: only frames pass, wherever comments, blank lines and other fields stand and the stream is cut", () => {
    const noise = fc.constantFrom("", ": c", ":", "\n", "\r\n", "event: message", "id: 1", ": error", "data: [DONE]");
    const end = fc.constantFrom("\n", "\r\n", "\r");
    const piece = fc.record({ before: fc.array(noise, { maxLength: 3 }), inside: fc.array(noise, { maxLength: 2 }) });
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 6 }),
        end,
        fc.array(fc.nat(900)),
        fc.boolean(),
        (pieces, lineEnd, cuts, isEndLost) => {
          const text = pieces
            .map(({ before, inside }, index) => {
              const lines = inside.filter((line) => line.trim() !== "" && !line.startsWith("data"));
              const last = index === pieces.length - 1 ? ',"finishReason":"STOP"' : "";
              const data = `data: {"candidates":[{"content":{"parts":[{"text":"t${index}"}]}${last}}]}`;
              const events = before.map((line) => `${line.trim() === "" ? "" : `${line}${lineEnd}`}${lineEnd}`);
              return `${events.join("")}${[...lines, data].join(lineEnd)}${lineEnd}${lineEnd}`;
            })
            .join("");
          // A last event whose blank line never came, with a comment behind it.
          const bytes = Buffer.from(isEndLost ? `${text.trimEnd()}${lineEnd}: bye` : text);
          const filter = new GenerateContentStreamFilter("sse", 1_000_000);
          const passed: Buffer[] = [];
          let at = 0;
          for (const cut of [...cuts.sort((a, b) => a - b), bytes.length]) {
            if (cut <= at) continue;
            passed.push(...filter.push(bytes.subarray(at, cut)));
            at = Math.min(cut, bytes.length);
          }
          passed.push(...filter.end());
          assert.equal(filter.isComplete, true);
          assert.ok(
            passed.every(({ length }) => length > 0),
            "an empty piece begins an answer that has not begun",
          );
          const sent = Buffer.concat(passed).toString("utf8");
          const events = sent.split(/(?<=\n\n|\r\r(?!\n)|\r\n\r\n)/);
          assert.equal(events.length, pieces.length, JSON.stringify(sent));
          for (const event of events) assert.match(event, /^data: \{[^\r\n]*\}(?:\n\n|\r\r|\r\n\r\n)$/);
        },
      ),
    );
  });
});
