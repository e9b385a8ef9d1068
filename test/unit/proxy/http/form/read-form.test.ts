import assert from "node:assert/strict";
import { readdirSync, readlinkSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { formRows } from "#test/support/form-rows";
import { contentOf, describeForm, FormServer, field, file, formOf } from "#test/support/form-server";
import { waitFor, within } from "#test/support/wait-for";

const model = field("model", "m");
const type = "Content-Type: multipart/form-data; boundary=b";

/** Files without a name that this process has open in a folder. */
function openFilesOf(folder: string): readonly string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(folder) ? [target] : [];
    } catch {
      // Closed meanwhile, as that of the listing itself.
      return [];
    }
  });
}

/** Bytes in which no two places look alike. */
function bytesOf(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let index = 0; index + 4 <= length; index += 4) bytes.writeUInt32LE((index * 2_654_435_761) % 2 ** 32, index);
  return bytes;
}

describe("readForm", () => {
  let server: FormServer;

  before(async () => {
    server = await FormServer.start({
      repeated: ["image", "a"],
      limits: { formFileBytesMax: 4_000_000, formBytesMax: 6_000_000, formFieldBytesMax: 100_000 },
    });
  });
  after(() => server.close());
  afterEach(async () => {
    assert.deepEqual([server.inFlight.bytes, server.spool.bytes, readdirSync(server.folder)], [0, 0, []]);
    await waitFor("the temporary files to be closed", () => openFilesOf(server.folder).length === 0);
  });

  describe("reads or refuses a form with (E5, E8)", () => {
    for (const { name, body, boundary = "b", outcome } of formRows) {
      it(name, async () => {
        assert.deepEqual(await server.outcome(body, { type: `multipart/form-data; boundary="${boundary}"` }), outcome);
      });
    }

    it("nothing that reaches the prototype of objects", () => {
      assert.deepEqual(Object.keys(Object.prototype), []);
      assert.equal(Reflect.get({}, "m"), undefined);
    });
  });

  for (const { name, headers, outcome } of [
    { name: "JSON", headers: ["Content-Type: application/json"], outcome: "unsupported_media_type" },
    { name: "no type", headers: [], outcome: "unsupported_media_type" },
    { name: "two types", headers: [type, type], outcome: "unsupported_media_type" },
    { name: "no boundary", headers: ["Content-Type: multipart/form-data"], outcome: "invalid_form" },
    { name: "gzip", headers: [type, "Content-Encoding: gzip"], outcome: "unsupported_media_type" },
    { name: "an unknown encoding", headers: [type, "Content-Encoding: x"], outcome: "unsupported_media_type" },
  ]) {
    it(`refuses ${name} before it reads anything (E6, E7)`, async () => {
      // The body never comes.
      const sent = await server.send([], [...headers, "Content-Length: 100"]);
      assert.equal(await server.outcomeOf(sent), outcome);
    });
  }

  it("refuses a packed form by its header, whatever it holds (E6)", async () => {
    const body = gzipSync(formOf([model]));
    const sent = await server.send([body], [type, "Content-Encoding: gzip", `Content-Length: ${body.length}`]);
    assert.equal(await server.outcomeOf(sent), "unsupported_media_type");
  });

  for (const { name, body, outcome } of [
    { name: "a file of just its bound", body: [file("image", Buffer.alloc(4_000_000, "a"))], outcome: undefined },
    { name: "a file of one byte more", body: [file("image", Buffer.alloc(4_000_001, "a"))], outcome: "body_too_large" },
    {
      name: "fields of just their bound",
      body: [field("a", "a".repeat(60_000)), field("c", "a".repeat(40_000))],
      outcome: undefined,
    },
    {
      name: "fields of one byte more",
      body: [field("a", "a".repeat(60_000)), field("c", "a".repeat(40_001))],
      outcome: "body_too_large",
    },
    {
      name: "files of more than a form may have",
      body: [file("a", Buffer.alloc(3_100_000)), file("c", Buffer.alloc(3_100_000))],
      outcome: "body_too_large",
    },
  ]) {
    for (const framing of ["declared", "chunked"]) {
      it(`bounds ${name}, ${framing} (F2)`, async () => {
        const bytes = formOf(body);
        const isDeclared = framing === "declared";
        const pieces = isDeclared ? [bytes] : [`${bytes.length.toString(16)}\r\n`, bytes, "\r\n0\r\n\r\n"];
        const framed = isDeclared ? `Content-Length: ${bytes.length}` : "Transfer-Encoding: chunked";
        const read = await server.outcomeOf(await server.send(pieces, [type, framed]));
        assert.equal(typeof read === "string" ? read : undefined, outcome);
      });
    }
  }

  it("refuses a length beyond the bound before anything comes (F2)", async () => {
    const sent = await server.send([], [type, "Content-Length: 6000001"]);
    assert.equal(await server.outcomeOf(sent), "body_too_large");
  });

  it("refuses a form that is longer than its length says", async () => {
    const body = formOf([model]);
    const sent = await server.send([body], [type, `Content-Length: ${body.length - 6}`]);
    assert.equal(await server.outcomeOf(sent), "invalid_form");
  });

  for (const { where, sentBytes } of [
    { where: "its head", sentBytes: 20 },
    { where: "memory", sentBytes: 100_000 },
    { where: "its file", sentBytes: 2_000_000 },
  ]) {
    it(`lets go of all when the client leaves within ${where} (H1)`, async () => {
      const body = formOf([model, file("image", bytesOf(3_000_000))]);
      const sent = await server.send([body.subarray(0, sentBytes)], [type, `Content-Length: ${body.length}`]);
      if (sentBytes > 300_000) await waitFor("a temporary file", () => openFilesOf(server.folder).length === 1);
      sent.socket.destroy();
      assert.equal(await server.outcomeOf(sent), "client_gone");
    });
  }

  it("reads files as often as it takes, also at once", async () => {
    const contents = [bytesOf(200_000), bytesOf(100_001), bytesOf(1_500_000), Buffer.alloc(0), bytesOf(7)];
    const body = formOf([model, ...contents.map((content) => file("image[]", content))]);
    const sent = await server.send([body], [type, `Content-Length: ${body.length}`]);
    const form = await within(10_000, "the form", sent.form);
    const expected = [
      ["model", "m"],
      ...contents.map((content) => ["image[]", content.toString("latin1"), "a.png", "image/png"]),
    ];
    assert.equal(form.bodyBytes, body.length);
    for (const read of await Promise.all([describeForm(form), describeForm(form)])) assert.deepEqual(read, expected);
    assert.deepEqual(await describeForm(form), expected);
    const starts = form.parts.flatMap((part) => (part.kind === "file" ? [part.content.start] : []));
    assert.deepEqual(
      starts,
      contents.map((content) => content.subarray(0, 64)),
    );
    sent.socket.destroy();
    form.release();
    form.release();
    await assert.rejects(describeForm(form), { name: "ReleasedFormError" });
  });

  it("has files at hand that lie in memory, and no others", async () => {
    const contents = [bytesOf(200_000), bytesOf(50_000), bytesOf(100_000)];
    const body = formOf(contents.map((content) => file("image[]", content)));
    const sent = await server.send([body], [type, `Content-Length: ${body.length}`]);
    const form = await within(10_000, "the form", sent.form);
    const found = form.parts.flatMap((part) => (part.kind === "file" ? [part.content] : []));
    const atHand = found.map(({ pieces }) => (pieces === undefined ? undefined : Buffer.concat(pieces)));
    assert.deepEqual(atHand, [contents[0], contents[1], undefined]);
    sent.socket.destroy();
    form.release();
    assert.throws(() => found[0]?.pieces, { name: "ReleasedFormError" });
  });

  it("keeps files no longer than they are sent (one name may lead to no file)", async () => {
    const body = formOf([file("image", bytesOf(1_000_000))]);
    const sent = await server.send([body], [type, `Content-Length: ${body.length}`]);
    const form = await within(10_000, "the form", sent.form);
    assert.equal(openFilesOf(server.folder).length, 1);
    assert.deepEqual(readdirSync(server.folder), []);
    assert.equal(server.spool.bytes, 1_000_000 - 256 * 1024);
    form.release();
    sent.socket.destroy();
  });

  it("reads a file from any byte on, in memory and on disk", async () => {
    const content = bytesOf(400_000);
    const body = formOf([file("image", content)]);
    const sent = await server.send([body], [type, `Content-Length: ${body.length}`]);
    const form = await within(10_000, "the form", sent.form);
    const [part] = form.parts;
    assert.ok(part?.kind === "file");
    for (const from of [0, 1, 200_000, 262_000, 300_000, 399_999]) {
      const rest = await contentOf({ chunks: () => part.content.chunks(from) });
      assert.ok(rest.equals(content.subarray(from)), `from ${from}`);
    }
    form.release();
    sent.socket.destroy();
  });

  it("reads a form the same however it is cut", async () => {
    const body = formOf([file("image", bytesOf(300)), model, file("mask", "\r\n--\r\n--b")]);
    const whole = await server.outcome(body);
    const pieces = Array.from(body, (byte) => Buffer.of(byte));
    assert.deepEqual(await server.outcome(body, { pieces }), whole);
  });
});
