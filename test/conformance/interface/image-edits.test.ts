/** `/v1/images/edits` and `/variations`: forms and JSON with pictures, passed on to upstreams that take the same. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import type { HttpAnswer } from "#test/support/conformance/http-call";
import {
  completedEvent,
  eventStream,
  type ImageRig,
  imagesReply,
  jpeg,
  leaveCall,
  partialEvent,
  png,
  startImageRig,
} from "#test/support/conformance/image-rig";
import { partsOf } from "#test/support/conformance/sent-parts";
import { at } from "#test/support/digest/facts";
import type { ReceivedRequest } from "#test/support/fake-upstream";
import { field, file, formOf, part } from "#test/support/form-server";
import { waitFor } from "#test/support/wait-for";

const path = "/v1/images/edits";
const formHeaders = { "content-type": "multipart/form-data; boundary=b" };

/** Name, file name, type and content of each part. */
async function flatPartsOf(request: ReceivedRequest | undefined): Promise<readonly (readonly string[])[]> {
  const parts = await partsOf(request);
  return parts.map(([name, content]) =>
    typeof content === "string"
      ? [name, content]
      : [name, content.name, content.type, content.bytes.toString("latin1")],
  );
}

describe("image edits", () => {
  let rig: ImageRig;

  before(async () => {
    rig = await startImageRig();
  });
  afterEach(async () => {
    rig.upstream.forget();
    await waitFor("the files' end", () => rig.gateway.spooledBytes + rig.gateway.inFlightBytes === 0 || undefined);
  });
  after(() => rig?.close());

  function edit(parts: readonly Buffer[], options: { key?: string; path?: string } = {}): Promise<HttpAnswer> {
    const { path: to = path, ...rest } = options;
    return rig.call(to, formOf(parts), { headers: formHeaders, ...rest });
  }

  const latin = (bytes: Buffer): string => bytes.toString("latin1");

  for (const spelling of [path, "/images/edits", "/v1/v1/images/edits"]) {
    it(`POST ${spelling} sends the form on with its files, order, names and types`, async () => {
      rig.upstream.replyWith({ body: imagesReply(1) });
      const parts = [
        file("image[]", png, "my cat (1).png", "image/png"),
        field("vendor_field", "007"),
        field("prompt", "add a hat\r\n--a"),
        file("image[]", jpeg, "dog.jpg", "application/octet-stream"),
        file("mask", png, "mask.png"),
        field("n", "1"),
        field("model", "painter"),
      ];
      const answer = await edit(parts, { path: spelling });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(answer.body.toString(), imagesReply(1));
      const [sent] = rig.upstream.requests;
      assert.equal(sent?.target, "/v1/images/edits");
      assert.equal(sent?.headers["accept"], "application/json");
      assert.deepEqual(await flatPartsOf(sent), [
        ["image[]", "my cat (1).png", "image/png", latin(png)],
        ["vendor_field", "007"],
        ["prompt", "add a hat\r\n--a"],
        ["image[]", "dog.jpg", "application/octet-stream", latin(jpeg)],
        ["mask", "mask.png", "image/png", latin(png)],
        ["n", "1"],
        ["model", "painter"],
      ]);
    });
  }

  it("renames the model, and leaves out what a GPT image model refuses", async () => {
    rig.upstream.replyWith({ body: imagesReply(1) });
    const parts = [
      field("response_format", "b64_json"),
      field("model", "gpt-image-strict"),
      file("image", png),
      field("prompt", "x"),
    ];
    const answer = await edit(parts);
    assert.equal(answer.status, 200, answer.body.toString());
    const names = (await flatPartsOf(rig.upstream.requests[0])).map(([name, value]) => `${name}=${value}`);
    assert.deepEqual(names, ["model=gpt-image-2", "image=a.png", "prompt=x"]);
  });

  const usual = [field("model", "painter"), field("prompt", "a hat")];
  for (const row of [
    { name: "without a picture", parts: usual, param: "image" },
    { name: "with a picture that is none", parts: [...usual, file("image", "%PDF-1.4")], param: "image" },
    { name: "with an empty file", parts: [...usual, file("image", "")], param: "image" },
    { name: "with a mask that is none", parts: [...usual, file("image", png), file("mask", "text")], param: "mask" },
    {
      name: "with two masks",
      parts: [...usual, file("image", png), file("mask", png), file("mask[]", png)],
      param: "mask[]",
    },
    {
      name: "with a list of masks",
      parts: [...usual, file("image", png), ...Array<Buffer>(2).fill(file("mask[]", png))],
      param: "mask[]",
    },
    { name: "with 17 pictures", parts: [...usual, ...Array<Buffer>(17).fill(file("image[]", png))], param: "image" },
    { name: "without a model", parts: [field("prompt", "x"), file("image", png)], param: "model" },
    { name: "without a prompt", parts: [field("model", "painter"), file("image", png)], param: "prompt" },
    { name: "with n of 0", parts: [...usual, file("image", png), field("n", "0")], param: "n" },
    { name: "with n of 129", parts: [...usual, file("image", png), field("n", "129")], param: "n" },
    { name: "with n in words", parts: [...usual, file("image", png), field("n", "two")], param: "n" },
    { name: "with a stream of yes", parts: [...usual, file("image", png), field("stream", "yes")], param: "stream" },
    { name: "with n in a list", parts: [...usual, file("image", png), field("n[]", "4")], param: "n" },
    {
      name: "with two users",
      parts: [...usual, file("image", png), ...Array(2).fill(field("user", "x"))],
      param: "user",
    },
    {
      name: "with two fields of a vendor's",
      parts: [...usual, file("image", png), field("seed", "1"), field("seed", "2")],
      param: "seed",
    },
    { name: "with two models", parts: [...usual, file("image", png), field("model", "nano-image")], param: "model" },
    {
      name: "with a file for a model",
      parts: [file("model", "painter"), field("prompt", "x"), file("image", png)],
      param: "model",
    },
    {
      name: "of a model for chat",
      parts: [field("model", "chatter"), field("prompt", "x"), file("image", png)],
      param: "model",
    },
  ]) {
    it(`refuses a call ${row.name} before any upstream is called`, async () => {
      const answer = await edit(row.parts);
      assert.equal(answer.status, 400, answer.body.toString());
      assert.equal(at(answer.json(), "error", "param"), row.param, answer.body.toString());
      assert.equal(rig.upstream.requests.length, 0);
    });
  }

  it("keeps the type of a field", async () => {
    rig.upstream.replyWith({ body: imagesReply(1) });
    const head = ['Content-Disposition: form-data; name="options"', "Content-Type: application/json"];
    const answer = await edit([...usual, file("image", png), part(head, '{"a":1}')]);
    assert.equal(answer.status, 200, answer.body.toString());
    assert.ok(rig.upstream.requests[0]?.body.includes(`${head.join("\r\n")}\r\n\r\n{"a":1}\r\n`));
  });

  it("leaves out what the model does not support and who the client says it is, however they are spelled", async () => {
    rig.upstream.replyWith({ body: imagesReply(1) });
    const answer = await edit([
      field("model", "private"),
      field("style[]", "vivid"),
      field("user[id]", "u-1"),
      field("metadata[team]", "red"),
      file("image", png),
      file("mask", png),
      field("prompt", "x"),
    ]);
    assert.equal(answer.status, 200, answer.body.toString());
    assert.equal(answer.header("x-tollgate-dropped"), "style");
    const names = (await flatPartsOf(rig.upstream.requests[0])).map(([name]) => name);
    assert.deepEqual(names, ["model", "image", "prompt"]);
  });

  it("refuses a body of another type, and a form that is cut", async () => {
    const other = await rig.call(path, "x", { headers: { "content-type": "text/plain" } });
    assert.equal(other.status, 415);
    const cut = await rig.call(path, formOf([...usual, file("image", png)]).subarray(0, 200), { headers: formHeaders });
    assert.equal(at(cut.json(), "error", "code"), "invalid_form");
    assert.equal((await rig.call("/v1/images/variations", "{}")).status, 415);
    assert.equal(rig.upstream.requests.length, 0);
  });

  it("takes 16 pictures", async () => {
    rig.upstream.replyWith({ body: imagesReply(1) });
    const answer = await edit([...usual, ...Array<Buffer>(16).fill(file("image[]", png))]);
    assert.equal(answer.status, 200, answer.body.toString());
  });

  it("streams where the field says so, and charges each picture", async () => {
    const stream = partialEvent(0, "YQ==", "image_edit") + completedEvent("Yg==", undefined, "image_edit");
    rig.upstream.replyWith({ headers: eventStream, body: stream });
    const answer = await edit([file("image", png), ...usual, field("stream", "true"), field("partial_images", "1")]);
    assert.equal(answer.body.toString(), stream);
    assert.equal(answer.header("content-type"), "text/event-stream; charset=utf-8");
    assert.equal(rig.upstream.requests[0]?.headers["accept"], "text/event-stream");
    const record = await rig.gateway.recordOf(String(answer.header("x-request-id")));
    assert.deepEqual([record.costNanos, record.format, record.isStream], [250_000_000n, "ImageEdits", true]);
  });

  it("makes events of a whole reply under the name of edits", async () => {
    rig.upstream.replyWith({ body: imagesReply(1) });
    const answer = await edit([...usual, file("image", png), field("stream", "true")]);
    assert.match(answer.body.toString(), /^event: image_edit\.completed\ndata: \{"type":"image_edit\.completed"/);
  });

  it("sends large files from the spool, and again to another target when the first one fails", async () => {
    const picture = Buffer.concat([png, Buffer.alloc(3 * 1024 * 1024, "x")]);
    rig.upstream.replyWith((_, index) => (index === 0 ? { status: 500, body: "oops" } : { body: imagesReply(1) }));
    const answer = await edit([field("model", "two-ways"), file("image", picture), field("prompt", "x")]);
    assert.equal(answer.status, 200, answer.body.toString());
    assert.equal(rig.upstream.requests.length, 2);
    const [first, second] = await Promise.all(rig.upstream.requests.map(flatPartsOf));
    assert.deepEqual(second, first);
    assert.ok(first?.[1]?.[3] === latin(picture));
  });

  it("lets go of the files and closes the upstream when the client leaves", async () => {
    rig.upstream.replyWith({ body: imagesReply(1), stallAt: 20 });
    const calls = rig.gateway.records.length;
    const picture = Buffer.concat([png, Buffer.alloc(1024 * 1024, "x")]);
    await leaveCall(rig, path, formOf([...usual, file("image", picture)]), () =>
      waitFor("the call upstream", () => rig.upstream.requests[0]),
    );
    await waitFor("the upstream's end", () => rig.upstream.requests[0]?.abortedAtMs);
    assert.equal((await waitFor("the record", () => rig.gateway.records[calls])).end[0], "C");
  });

  it("charges what an upstream does not report by estimate, the pictures shown too", async () => {
    rig.upstream.replyWith({ body: imagesReply(1, {}) });
    const answer = await edit([
      field("model", "by-token"),
      field("prompt", "a hat"),
      file("image[]", png),
      file("mask", png),
    ]);
    const record = await rig.gateway.recordOf(String(answer.header("x-request-id")));
    const input = BigInt(record.usage?.input ?? 0);
    assert.ok(input > 0n);
    assert.equal(record.costNanos, input * 1_000n + 2n * 1_600n * 2_000n + 4_160n * 10_000n);
    assert.equal(record.isEstimated, true);
  });

  it("holds restrictions and credit of keys", async () => {
    const parts = [...usual, file("image", png), field("n", "128")];
    assert.equal(at((await edit(parts, { key: "chat-only" })).json(), "error", "code"), "capability_not_allowed");
    assert.equal(at((await edit(parts, { key: "credit" })).json(), "error", "code"), "insufficient_quota");
    assert.equal(rig.upstream.requests.length, 0);
  });

  describe("in JSON", () => {
    const dataUrl = `data:image/png;base64,${png.toString("base64")}`;
    const images = [{ image_url: "https://x.example/cat.png" }, { image_url: dataUrl }];

    it("passes on as it came", async () => {
      rig.upstream.replyWith({ body: imagesReply(1) });
      const body = JSON.stringify({
        model: "painter",
        prompt: "a hat",
        images,
        mask: { image_url: dataUrl },
        size: "auto",
      });
      const answer = await rig.call(path, body);
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(rig.upstream.requests[0]?.body.toString(), body);
      assert.equal(rig.upstream.requests[0]?.headers["content-type"], "application/json");
    });

    for (const image of ["https://x.example/cat.png", dataUrl, png.toString("base64"), [dataUrl, dataUrl]]) {
      it(`takes 'image' of vendors: ${JSON.stringify(image).slice(0, 40)}`, async () => {
        rig.upstream.replyWith({ body: imagesReply(1) });
        assert.equal((await rig.call(path, { model: "painter", prompt: "a hat", image })).status, 200);
      });
    }

    for (const row of [
      { name: "no picture", body: {}, param: "image" },
      { name: "an empty list", body: { images: [] }, param: "image" },
      { name: "a number", body: { images: [7] }, param: "images[0]" },
      { name: "a text that is none", body: { image: "cat.png" }, param: "image" },
      { name: "a data URL of something else", body: { image: "data:image/png;base64,JVBERi0xLjQ=" }, param: "image" },
      { name: "a file of the provider's", body: { images: [{ file_id: "file-1" }] }, param: "images[0].file_id" },
    ]) {
      it(`refuses ${row.name} before any upstream is called`, async () => {
        const answer = await rig.call(path, { model: "painter", prompt: "a hat", ...row.body });
        assert.equal(answer.status, 400, answer.body.toString());
        assert.equal(at(answer.json(), "error", "param"), row.param);
        assert.equal(rig.upstream.requests.length, 0);
      });
    }
  });

  describe("variations", () => {
    it("pass on without a prompt", async () => {
      rig.upstream.replyWith({ body: imagesReply(2) });
      const answer = await edit([file("image", png), field("model", "painter"), field("n", "2")], {
        path: "/v1/images/variations",
      });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(rig.upstream.requests[0]?.target, "/v1/images/variations");
      const record = await rig.gateway.recordOf(String(answer.header("x-request-id")));
      assert.deepEqual([record.costNanos, record.format], [500_000_000n, "ImageVariations"]);
    });

    it("need a picture", async () => {
      const answer = await edit([field("model", "painter")], { path: "/v1/images/variations" });
      assert.equal(at(answer.json(), "error", "param"), "image");
    });
  });
});
