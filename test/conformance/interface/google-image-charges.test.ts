/** What pictures of Google's models cost that take several requests: reserved, charged and bounded for all of them. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import { content } from "#test/support/conformance/google-pictures";
import { type ImageRig, startImageRig } from "#test/support/conformance/image-rig";
import { at } from "#test/support/digest/facts";

const path = "/v1/images/generations";

describe("pictures of several requests", () => {
  let rig: ImageRig;
  /** Takes replies of 300 kB at most. */
  let small: ImageRig;

  before(async () => {
    rig = await startImageRig();
    small = await startImageRig([], { replyBodyBytesMax: 300_000 });
  });
  afterEach(() => rig.google.forget());
  after(async () => {
    await rig?.close();
    await small?.close();
  });

  async function recordOf(answer: { header(name: string): string | undefined }) {
    return rig.gateway.recordOf(String(answer.header("x-request-id")));
  }

  it("reserves the tokens of every request, whatever quality is asked for", async () => {
    const body = { model: "nano-by-token", quality: "low", size: "256x256", n: 32 };
    // 32 times 2,520 tokens at 10 credits a million, of 1 credit.
    rig.google.replyWith({ body: content("cGlj") });
    assert.equal((await rig.call(path, { ...body, prompt: "a cat" }, { key: "credit" })).status, 200);
    rig.google.forget();
    const long = await rig.call(path, { ...body, prompt: "a cat ".repeat(30_000) }, { key: "credit" });
    assert.equal(at(long.json(), "error", "code"), "insufficient_quota");
    const many = await rig.call(path, { ...body, prompt: "a cat", n: 60 }, { key: "credit" });
    assert.equal(at(many.json(), "error", "code"), "insufficient_quota");
    assert.equal(rig.google.requests.length, 0);
  });

  it("counts each request on its channel, and gets none that the channel has no room for", async () => {
    rig.google.replyWith({ body: content("cGlj") });
    const ask = (n: number) => rig.call(path, { model: "nano-scarce", prompt: "a cat", n });
    assert.equal((await ask(6)).status, 503);
    assert.equal(rig.google.requests.length, 0);
    assert.equal((await ask(4)).status, 200);
    assert.equal((await ask(2)).status, 503);
    assert.equal((await ask(1)).status, 200);
  });

  it("makes an error of replies that are too large together, and what was made is charged", async () => {
    const body = content("QUJD".repeat(20_000));
    small.google.replyWith({ body });
    const answer = await small.call(path, { model: "nano-image", prompt: "a cat", n: 8, size: "1024x1024" });
    assert.equal(answer.status, 502, answer.body.toString());
    const made = small.google.requests.length;
    assert.ok(made < 8, `${made} made`);
    assert.equal(
      (await small.gateway.recordOf(String(answer.header("x-request-id")))).costNanos,
      BigInt(made) * 125_000_000n,
    );
  });

  it("is refused 128 pictures for a key with credit for three, before it is called", async () => {
    const body = { model: "nano-image", prompt: "a cat", n: 128 };
    const answer = await rig.call(path, body, { key: "credit" });
    assert.equal(at(answer.json(), "error", "code"), "insufficient_quota");
    assert.equal(rig.google.requests.length, 0);
  });

  it("is an error as a whole when one request fails, and what was made is charged", async () => {
    rig.google.replyWith((_, index) => (index === 2 ? { status: 500, body: "oops" } : { body: content("cGlj") }));
    const answer = await rig.call(path, { model: "nano-image", prompt: "a cat", n: 40, size: "1024x1024" });
    assert.ok(answer.status >= 500, answer.body.toString());
    const made = rig.google.requests.length - 1;
    assert.ok(made >= 2 && made <= 5, `${made} made`);
    assert.equal((await recordOf(answer)).costNanos, BigInt(made) * 125_000_000n);
  });

  it("is asked once where it refuses, whatever was asked for", async () => {
    rig.google.replyWith({ status: 429, body: '{"error":{"code":429,"message":"slow down"}}' });
    const answer = await rig.call(path, { model: "nano-image", prompt: "a cat", n: 40 });
    assert.equal(answer.status, 429);
    assert.equal(rig.google.requests.length, 1);
    assert.equal((await recordOf(answer)).costNanos, undefined);
  });
});
