import assert from "node:assert/strict";
import type { SentRequest, UpstreamHandler } from "#proxy/http1/client/upstream";
import type { SignableRequest } from "#proxy/providers/provider";
import { SigningUpstream } from "#proxy/upstream/request/signing-upstream";

const handler: UpstreamHandler = { onStart() {}, onHead() {}, onData() {}, onEnd() {}, onError() {} };

describe("SigningUpstream", () => {
  it("signs what is sent, each request anew, and hands on the rest as it is", () => {
    const sent: SentRequest[] = [];
    const signed: SignableRequest[] = [];
    let nowMs = 1_000;
    const upstream = new SigningUpstream(
      { send: (request, given) => void (given === handler && sent.push(request)) },
      {
        secret: "id:secret",
        origin: "https://models.example.com",
        now: () => nowMs,
        sign: (request, secret, atMs) => {
          signed.push(request);
          return ["x-date", String(atMs), "authorization", `${secret.length} ${request.path} ${request.body.length}`];
        },
      },
    );
    const request = { path: "/m", headers: ["a", "1"], fixedHeaders: ["b", "2"], connectTimeoutMs: 0 };
    upstream.send({ ...request, body: Buffer.from("one") }, handler);
    nowMs = 2_000;
    upstream.send({ ...request, method: "GET", path: "/n", body: Buffer.alloc(0) }, handler);
    assert.deepEqual(
      sent.map(({ headers, fixedHeaders }) => [headers, fixedHeaders]),
      [
        [
          ["a", "1", "x-date", "1000", "authorization", "9 /m 3"],
          ["b", "2"],
        ],
        [
          ["a", "1", "x-date", "2000", "authorization", "9 /n 0"],
          ["b", "2"],
        ],
      ],
    );
    assert.deepEqual(
      signed.map(({ method, origin, headers }) => [method, origin, headers]),
      [
        ["POST", "https://models.example.com", ["b", "2", "a", "1"]],
        ["GET", "https://models.example.com", ["b", "2", "a", "1"]],
      ],
    );
  });

  it("refuses a body that is streamed, whose digest it cannot know, before anything is sent", () => {
    const errors: string[] = [];
    const upstream = new SigningUpstream(
      { send: () => assert.fail("nothing may be sent") },
      { secret: "id:secret", origin: "https://models.example.com", now: () => 0, sign: () => [] },
    );
    const body = { length: 3, chunks: () => assert.fail("nothing may be read") };
    const request = { path: "/m", headers: [], connectTimeoutMs: 0, body };
    upstream.send(request, { ...handler, onError: ({ message }) => void errors.push(message) });
    assert.match(errors.join(), /signs whole bodies/);
  });
});
