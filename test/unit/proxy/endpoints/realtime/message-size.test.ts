/** What one message of a client gives a model to read. */
import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { readClientMessage } from "#proxy/endpoints/realtime/messages/client-message";
import { sessionSizes, sizeOf } from "#proxy/endpoints/realtime/usage/message-size";

const read = (message: object) =>
  readClientMessage(Buffer.from(JSON.stringify(message)), { depthMax: 100, keysMax: 1_000 });
const item = (...content: object[]) => ({
  type: "conversation.item.create",
  item: { type: "message", role: "user", content },
});
const image = (url: string) => ({ type: "input_image", image_url: url });

describe("sizeOf()", () => {
  const frame = sizeOf(read(item({ type: "input_text", text: "" }))).textBytes;

  for (const [name, message, added] of [
    ["text", item({ type: "input_text", text: "x".repeat(300) }), { textBytes: 300, audioLength: 0, images: 0 }],
    ["audio", item({ type: "input_audio", audio: "A".repeat(6_400) }), { audioLength: 6_400, images: 0 }],
    [
      "two images, by address and as data",
      item(image("https://x.example/a.png"), image(`data:image/png;base64,${"A".repeat(9_000)}`)),
      { audioLength: 0, images: 2 },
    ],
    [
      "the input of a response of its own",
      { type: "response.create", response: { input: [item(image("https://x.example/a.png")).item] } },
      { audioLength: 0, images: 1 },
    ],
    [
      "audio beside an image, and none of what stands elsewhere",
      {
        type: "conversation.item.create",
        audio: "A".repeat(15),
        item: {
          ...item({ type: "input_audio", audio: "A".repeat(640) }, image("https://x.example/a.png")).item,
          audio: "A",
        },
      },
      { audioLength: 640, images: 1 },
    ],
    ["a content that is no list", { type: "conversation.item.create", item: { content: 5 } }, { images: 0 }],
  ] as const) {
    it(`measures ${name}`, () => {
      const size = sizeOf(read(message));
      assert.deepEqual({ ...size, ...added, textBytes: size.textBytes }, size);
      if ("textBytes" in added) assert.equal(size.textBytes - frame, added.textBytes);
      // Audio and images are no text.
      else assert.ok(size.textBytes < 200, String(size.textBytes));
    });
  }
});

/** A message may be as large as a body: parsing it, some 50 ms for 15 MB, would hold up every other session. */
describe("what a message holds", () => {
  const parse = JSON.parse;
  afterEach(() => {
    JSON.parse = parse;
  });

  it("is measured without parsing it", () => {
    const told = read(item({ type: "input_text", text: "x".repeat(300) }, { type: "input_audio", audio: "AAAA" }));
    const update = read({ type: "session.update", session: { instructions: "x".repeat(300) } });
    JSON.parse = () => assert.fail("parsed");
    assert.equal(sizeOf(told).audioLength, 4);
    assert.deepEqual([...sessionSizes(update)], [["instructions", 300]]);
  });
});

describe("sessionSizes()", () => {
  it("measures each member of a session by itself", () => {
    const session = { instructions: "x".repeat(300), tools: [{ name: "a" }], voice: null };
    assert.deepEqual(
      [...sessionSizes(read({ type: "session.update", session }))],
      [
        ["instructions", 300],
        ["tools", 14],
        ["voice", 0],
      ],
    );
  });

  it("finds nothing in a session that is none", () => {
    for (const session of [5, [], null]) assert.equal(sessionSizes(read({ type: "session.update", session })).size, 0);
  });
});
