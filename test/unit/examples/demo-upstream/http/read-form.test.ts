/** Forms that end early, name no boundary or come in odd pieces are refused or read, and never hang. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { member } from "#examples/demo-upstream/json-view";
import { type RunningDemoUpstream, startDemoUpstream } from "#test/support/start-demo-upstream";

const file = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\ncontent-type: audio/x\r\n\r\nabc\r\n';
const model = '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nm\r\n';

describe("demo upstream, forms", () => {
  let demo: RunningDemoUpstream;

  before(async () => {
    demo = await startDemoUpstream();
  });

  after(() => demo.close());

  function send(body: string, contentType = "multipart/form-data; boundary=b"): Promise<Response> {
    return fetch(`${demo.origin}/v1/audio/transcriptions`, {
      method: "POST",
      headers: { authorization: "Bearer demo", "content-type": contentType },
      body,
    });
  }

  it("takes the model before and behind the file", async () => {
    for (const body of [`${model}${file}--b--\r\n`, `${file}${model}--b--\r\n`]) {
      const response = await send(body);
      assert.equal(response.status, 200);
      assert.match(String(member(await response.json(), "text")), /a recording in 3 bytes of audio\/x\./);
    }
  });

  for (const [name, body, contentType] of [
    ["no boundary", `${file}--b--\r\n`, "multipart/form-data"],
    ["another boundary", `${file}--b--\r\n`, "multipart/form-data; boundary=other"],
    ["no end of its file", `${model}${file.slice(0, -4)}`, undefined],
    ["no last boundary", `${model}${file}`, undefined],
    ["no part", "--b--\r\n", undefined],
    ["nothing", "", undefined],
  ] as const) {
    it(`refuses a form with ${name}`, async () => {
      const response = await send(body, contentType);
      assert.equal(response.status, 400, await response.clone().text());
      assert.ok(member(await response.json(), "error"));
    });
  }
});
