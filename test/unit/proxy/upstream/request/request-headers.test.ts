import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { requestHeaders, secretsOf } from "#proxy/upstream/request/request-headers";
import { wireChannel, wireCredential } from "#test/support/wire-objects";

function headersOf(changes: Parameters<typeof wireChannel>[1], client: Record<string, string> = {}): object {
  const built = requestHeaders("call", wireChannel("a", changes), undefined, client);
  const headers = [...built.fixedHeaders, ...built.headers];
  const pairs: [string, string][] = [];
  for (let index = 0; index < headers.length; index += 2) pairs.push([headers[index] ?? "", headers[index + 1] ?? ""]);
  assert.equal(new Set(pairs.map(([name]) => name)).size, pairs.length, "each name once");
  return Object.fromEntries(pairs);
}

const usual = {
  "content-type": "application/json",
  accept: "application/json",
  "accept-encoding": "identity",
  "user-agent": "tollgate",
};

describe("requestHeaders()", () => {
  for (const { name, changes, client, want } of [
    { name: "are the gateway's and the client's", changes: {}, client: { a: "1" }, want: { ...usual, a: "1" } },
    {
      name: "a header that the channel sets stands instead of the client's and of the gateway's own",
      changes: {
        headersSet: [
          { name: "User-Agent", value: "ours" },
          { name: "A", value: "2" },
        ],
      },
      client: { a: "1" },
      want: { ...usual, "user-agent": "ours", a: "2" },
    },
    {
      name: "the type of the body as the channel wants it",
      changes: { headersSet: [{ name: "content-type", value: "application/json; charset=utf-8" }] },
      client: {},
      want: { ...usual, "content-type": "application/json; charset=utf-8" },
    },
    {
      name: "what the channel removes is not sent, whoever would have",
      changes: { headersRemove: ["Accept-Encoding", "a"] },
      client: { a: "1", b: "2" },
      want: { "content-type": usual["content-type"], accept: usual.accept, "user-agent": "tollgate", b: "2" },
    },
  ])
    it(name, () => assert.deepEqual(headersOf(changes, client), want));

  it("differ between calls, streams and questions without a body", () => {
    const channel = wireChannel("a");
    const [call, stream, plain] = (["call", "stream", "plain"] as const).map((kind) =>
      requestHeaders(kind, channel, undefined, {}).fixedHeaders.join(" "),
    );
    assert.match(call ?? "", /accept application\/json/);
    assert.match(stream ?? "", /accept text\/event-stream/);
    assert.doesNotMatch(plain ?? "", /content-type/);
  });
});

describe("secretsOf()", () => {
  it("are the credential's and the values of the channel's headers", () => {
    const channel = wireChannel("a", { headersSet: [{ name: "x-token", value: "of-the-header" }] });
    assert.deepEqual(secretsOf(channel, wireCredential("a", "main", "of-the-credential")), [
      "of-the-credential",
      "of-the-header",
    ]);
    assert.deepEqual(secretsOf(wireChannel("a"), undefined), []);
  });
});
